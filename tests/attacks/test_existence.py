"""What exists and is not yours looks like what does not exist: same answer, same work, so the time tells nothing."""

from __future__ import annotations

import uuid
from typing import Any

import psycopg
import pytest

from tests.support.sqlapi import Api
from tests.values.bad_arguments import NEED_PGCRYPTO, VALID
from tests.values.valid_calls import has_pgcrypto

UNKNOWN: dict[str, Any] = {
    "document_id": uuid.UUID(int=404),
    "job_id": 404_404,
    "key": "nil",
    "lease_token": uuid.UUID(int=404),
    "memory_id": uuid.UUID(int=404),
    "name": "none",
    "new_memory_id": uuid.UUID(int=405),
    "old_memory_id": uuid.UUID(int=404),
    "receipt_id": uuid.UUID(int=404),
    "thread_id": "t9",
}
"""What nobody has, for each argument that names a row; the texts are as long as those of ana's rows."""


def named(valid: dict[str, Any]) -> dict[str, Any]:
    """Arguments that name rows nobody has, in place of those that ana has."""
    return {name: UNKNOWN[name] for name in valid.keys() & UNKNOWN.keys()}


def answer(api: Api, function: str, **others: Any) -> tuple[str, int]:
    """The result or the refusal of a call as eve, without the ids that it names, and the rows and entries it read."""
    said = ""

    def call() -> None:
        nonlocal said
        try:
            with api.connection.transaction():
                said = str(getattr(api, function)(**{**VALID[function], **others, "user_id": "eve"}))
        except psycopg.Error as error:
            said = f"{error.sqlstate} {error.diag.message_primary} {error.diag.message_hint}"

    with api.connection.transaction(force_rollback=True):
        read = api.entries_read(call)
    for value in (*VALID[function].values(), *others.values()):
        said = said.replace(str(value), "…")
    return said, read


@pytest.mark.feature("C9")
@pytest.mark.feature("F9")
@pytest.mark.parametrize("function", [name for name, valid in VALID.items() if "user_id" in valid and named(valid)])
def test_a_row_of_another_user_answers_as_one_that_does_not_exist(api: Api, function: str) -> None:
    if function in NEED_PGCRYPTO and not has_pgcrypto(api):
        pytest.skip("this server has no pgcrypto")
    unknown = named(VALID[function])
    for arguments in ({}, unknown):  # The first call of a session also reads the catalog.
        answer(api, function, **arguments)
    theirs, nobodys = answer(api, function), answer(api, function, **unknown)
    assert theirs == nobodys
