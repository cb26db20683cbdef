"""Files of models under /memories; what their commands say is compared in tests/adapters/test_anthropic.py."""

from __future__ import annotations

import itertools
from typing import Any

import psycopg
import pytest

from tests.documents.steps import chunks
from tests.support.runners import PATIENCE
from tests.support.sessions import Sessions
from tests.support.sqlapi import Api, refused

pytestmark = pytest.mark.feature("F36")
NOTES = "/memories/notes.txt"


def use(api: Api, command: str, path: str = NOTES, user_id: str = "ana", **arguments: Any) -> str:
    answer: str = api.use_files(user_id=user_id, command=command, path=path, **arguments)
    return answer


def contents(api: Api, user_id: str = "ana") -> dict[str, str]:
    return {file.title: file.content for file in api.list_documents(user_id=user_id, namespace="/memories")}


def test_a_file_is_found_only_by_what_it_says_now_and_may_be_empty(api: Api) -> None:
    for text in ("", "\n"):
        use(api, "create", file_text=text)
        assert chunks(api) == []
        use(api, "delete")
    use(api, "create", file_text="Likes tea.")
    use(api, "str_replace", old_str="tea", new_str="coffee")
    assert [content for _, content, _ in chunks(api)] == ["Likes coffee."]
    with refused("content", "22023"):
        api.add_document(user_id="ana", content="")


def test_changes_at_once_lose_nothing(sessions: Sessions) -> None:
    first = sessions.api
    use(first, "create", file_text="tea\ngoat\n")
    with first.connection.transaction():
        use(first, "str_replace", old_str="tea", new_str="coffee")
        waiting = sessions.submit(lambda api: use(api, "insert", insert_line=2, insert_text="boat"))
        assert not waiting.done()
    waiting.result(PATIENCE)
    assert contents(first) == {NOTES: "coffee\ngoat\nboat\n"}
    with first.connection.transaction():
        use(first, "rename", new_path="/memories/b")
        waiting = sessions.submit(lambda api: use(api, "str_replace", old_str="coffee", new_str="water"))
        assert not waiting.done()
    with pytest.raises(psycopg.errors.NoDataFound, match=f"path: The path {NOTES} does not exist"):
        waiting.result(PATIENCE)
    assert contents(first) == {"/memories/b": "coffee\ngoat\nboat\n"}


@pytest.mark.parametrize("command", ["create", "rename"])
def test_of_two_who_make_a_file_one_is_told_that_it_is_there(sessions: Sessions, command: str) -> None:
    first = sessions.api
    for name in ("x", "y"):
        use(first, "create", f"/memories/{name}", file_text=name)

    def make(api: Api, name: str) -> str:
        if command == "create":
            return use(api, "create", file_text=name)
        return use(api, "rename", f"/memories/{name}", new_path=NOTES)

    with first.connection.transaction():
        make(first, "x")
        waiting = sessions.submit(lambda api: make(api, "y"))
        assert not waiting.done()
    with pytest.raises(psycopg.errors.UniqueViolation, match=f"path: (File|The destination) {NOTES} already exist"):
        waiting.result(PATIENCE)
    assert contents(first)[NOTES] == "x"


def test_a_file_in_quarantine_is_not_shown_and_not_written_over(api: Api) -> None:
    use(api, "create", file_text="Likes tea.")
    [file] = api.list_documents(user_id="ana")
    api.quarantine_source(user_id="ana", source="document", id=str(file.document_id), reason="poisoned")
    assert NOTES not in use(api, "view", "/memories")
    changes: dict[str, dict[str, Any]] = {
        "view": {},
        "str_replace": {"old_str": "tea", "new_str": "coffee"},
        "insert": {"insert_line": 0, "insert_text": "x"},
    }
    for command, arguments in changes.items():
        with refused("path", "P0002"):
            use(api, command, **arguments)
    with refused("path", "23505"):
        use(api, "create", file_text="x")
    use(api, "delete")
    use(api, "create", file_text="x")


def test_users_who_become_one_keep_all_their_files(api: Api) -> None:
    for user_id, name in itertools.product(("ana", "bob"), (NOTES, "/memories/{user}.md")):
        use(api, "create", name.format(user=user_id), user_id, file_text=f"of {user_id}")
    [file] = [each for each in api.list_documents(user_id="bob") if each.title == NOTES]
    api.merge_users(from_user_id="bob", into_user_id="ana")
    assert contents(api) == {
        NOTES: "of ana", "/memories/ana.md": "of ana",
        f"{NOTES}-{file.document_id}": "of bob", "/memories/bob.md": "of bob",
    }  # fmt: skip
