"""Each function, each role, each foreign user."""

from __future__ import annotations

import pytest

from tests.attacks.matrix import COLUMNS, TABLE, matrix, prepare
from tests.support.sqlapi import Api
from tests.values.bad_arguments import VALID


@pytest.fixture(scope="module")
def shared_api(shared_api: Api) -> Api:
    """The database of the attacks, with a login role for each column of the table."""
    prepare(shared_api)
    return shared_api


@pytest.mark.feature("A3")
@pytest.mark.feature("F9")
def test_each_function_answers_each_role_as_the_table_says(api: Api) -> None:
    """After a function or a right was added: ``python -m tests.attacks.matrix``, and read the difference."""
    assert matrix(api) == TABLE.read_text(encoding="utf-8")


def rows() -> dict[str, list[str]]:
    """The cells of each function, as they stand in the table."""
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return {name: cells for name, *cells in map(str.split, lines[1:])}


@pytest.mark.feature("F9")
@pytest.mark.parametrize("column", ["stranger", "bound_to_bob", "bound,_of_nobody", "token_of_bob", "forged_token"])
def test_the_table_lets_nobody_reach_another_user(column: str) -> None:
    place = [title for title, *_ in COLUMNS].index(column)
    reached = {name for name, cells in rows().items() if cells[place] == "o" and "user_id" in VALID[name]}
    assert reached <= {"partition_of"}  # which computes a number of any text


def test_a_user_who_exists_and_one_who_does_not_are_refused_alike() -> None:
    titles = [title for title, *_ in COLUMNS]
    for name, cells in rows().items():
        assert cells[titles.index("bound_to_bob")] == cells[titles.index("bound,_of_nobody")], name
