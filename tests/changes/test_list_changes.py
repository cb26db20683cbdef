"""list_changes: what is noted of each kind of change, and of users who are forgotten."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F35")

ANA: dict[str, Any] = {"user_id": "ana"}


class Poller:
    """Reads on from where it stopped."""

    def __init__(self, api: Api, **arguments: Any) -> None:
        self.api, self.arguments = api, arguments
        self.after: int | None = None
        self.poll()

    def poll(self) -> list[tuple[str, str, str]]:
        """Source, id and operation of what is new."""
        rows = self.api.list_changes(after=self.after, row_limit=1000, **self.arguments)
        numbers = [row.change_id for row in rows]
        assert numbers == sorted(set(numbers))
        if rows:
            self.after = numbers[-1]
        return [(row.source, row.id, row.operation) for row in rows]


@pytest.fixture
def poller(api: Api) -> Poller:
    return Poller(api)


def test_messages_and_their_threads(api: Api, poller: Poller) -> None:
    api.add_message(**ANA, thread_id="t", role="user", content="Hello")
    assert poller.poll() == [("thread", "t", "added"), ("message", "t/0", "added")]
    api.add_messages(**ANA, thread_id="t", messages=[{"role": "user", "content": c} for c in ("a", "b")])
    assert poller.poll() == [("message", "t/1", "added"), ("message", "t/2", "added")]
    keyed = [{"role": "user", "content": "c", "idempotency_key": "k"}] * 2 + [{"role": "user", "content": "d"}]
    for _ in range(2):
        api.add_messages(**ANA, thread_id="t", messages=keyed[:2])
    assert poller.poll() == [("message", "t/3", "added")]
    api.add_messages(**ANA, thread_id="t", messages=keyed)
    assert poller.poll() == [("message", "t/4", "added")]
    api.query(
        "insert into memory.messages (user_id, thread_id, role, content) values ('ana', 't', 'user', 'x') returning 1"
    )
    assert poller.poll() == [("message", "t/5", "added")]
    api.query("update memory.messages set content = 'y' where content = 'x' returning 1")
    api.query("update memory.messages set is_counted = true returning 1")
    assert poller.poll() == [("message", "t/5", "changed")]
    api.delete_message(**ANA, thread_id="t", seq=5)
    assert poller.poll() == [("message", "t/5", "deleted")]
    api.set_thread(**ANA, thread_id="t", title="Greetings")
    api.copy_thread(**ANA, thread_id="t", new_thread_id="u", upto_seq=0)
    assert poller.poll() == [("thread", "t", "changed"), ("thread", "u", "added"), ("message", "u/0", "added")]
    api.clear_thread(**ANA, thread_id="u")
    assert poller.poll() == [("message", "u/0", "deleted")]
    api.sweep()
    assert poller.poll() == []
    api.delete_thread(**ANA, thread_id="t")
    assert poller.poll() == [("thread", "t", "deleted")]


def test_memories(api: Api, poller: Poller) -> None:
    tea, coffee = (str(api.add_memory(**ANA, content=f"Likes {drink}").memory_id) for drink in ("tea", "coffee"))
    assert poller.poll() == [("memory", tea, "added"), ("memory", coffee, "added")]
    api.add_memory(**ANA, content="Likes tea")
    assert poller.poll() == []  # only said again
    api.update_memory(**ANA, memory_id=tea, content="Likes green tea")
    assert poller.poll() == [("memory", tea, "changed")]
    api.supersede_memory(**ANA, old_memory_id=tea, new_memory_id=coffee, reason="moved on")
    assert poller.poll() == [("memory", tea, "hidden")]
    api.restore_memory(**ANA, memory_id=tea)
    assert poller.poll() == [("memory", tea, "added")]
    api.quarantine_memory(**ANA, memory_id=tea, reason="planted")
    api.release_memory(**ANA, memory_id=tea)
    assert poller.poll() == [("memory", tea, "hidden"), ("memory", tea, "added")]
    api.delete_memory(**ANA, memory_id=coffee)
    assert poller.poll() == [("memory", coffee, "deleted")]
    api.query("update memory.memories set deleted_at = '2020-01-01' where deleted_at is not null returning 1")
    api.sweep()
    assert poller.poll() == []
    api.forget_memory(**ANA, memory_id=tea)
    assert poller.poll() == [("memory", tea, "forgotten")]


def test_documents(api: Api, poller: Poller) -> None:
    document = api.add_document(**ANA, content="Tea is green.", title="Tea")
    assert poller.poll() == [("document", str(document), "added")]
    api.query("update memory.documents set content = 'Tea is black.' returning 1")
    api.query("update memory.documents set source = source returning 1")
    assert poller.poll() == [("document", str(document), "changed")]
    api.quarantine_source(**ANA, source="document", id=str(document), reason="planted")
    api.release_source(**ANA, source="document", id=str(document))
    api.delete_document(**ANA, document_id=document)
    operations = ("hidden", "added", "deleted")
    assert poller.poll() == [("document", str(document), operation) for operation in operations]


def test_artifacts(api: Api, poller: Poller) -> None:
    api.store_artifact(**ANA, key="log", content="line\n" * 9, description="a log")
    assert poller.poll() == [("artifact", "log", "added")]
    api.query("update memory.artifacts set description = 'the log' returning 1")
    assert poller.poll() == [("artifact", "log", "changed")]
    api.quarantine_source(**ANA, source="artifact", id="log", reason="planted")
    api.release_source(**ANA, source="artifact", id="log")
    api.delete_artifact(**ANA, key="log")
    assert poller.poll() == [("artifact", "log", operation) for operation in ("hidden", "added", "deleted")]


def test_the_actor_and_the_time_stand_beside_each_change(api: Api) -> None:
    api.add_memory(**ANA, content="Likes tea")
    [row] = api.list_changes()[-1:]
    assert row.user_id == "ana"
    assert row.actor == api.value("select session_user")
    assert api.value("select %(at)s between now() - interval '1 day' and clock_timestamp()", at=row.at)


def test_one_user_and_pages(api: Api) -> None:
    poller = Poller(api, user_id="bo")
    for number in range(5):
        for user in ("ana", "bo"):
            api.add_memory(user_id=user, content=f"Fact {number}")
    assert len(poller.poll()) == 5
    everything = [row.change_id for row in api.list_changes(row_limit=10_000)]
    paged: list[int] = []
    while page := api.list_changes(after=paged[-1] if paged else None, row_limit=3):
        paged += [row.change_id for row in page]
    assert paged == everything


def test_no_content_is_kept(api: Api) -> None:
    api.add_message(**ANA, thread_id="t", role="user", content="I live in needle street")
    api.add_memory(**ANA, content="Lives in needle street", metadata={"a": "needle"}, tags=["needle"])
    api.add_document(**ANA, content="needle", title="needle")
    assert "needle" not in str(api.list_changes(row_limit=10_000))


def test_a_forgotten_user_leaves_a_row_without_a_user(api: Api, poller: Poller) -> None:
    api.add_message(**ANA, thread_id="ana's thread", role="user", content="Hello")
    poller.poll()
    api.add_memory(**ANA, content="Likes tea")
    receipt = api.forget_user(**ANA)
    assert poller.poll() == [("user", receipt["receipt_id"], "forgotten")]
    assert api.list_changes(**ANA) == []
    assert "ana" not in str(api.list_changes(row_limit=10_000))


def test_an_imported_and_a_merged_user_are_one_row(api: Api, poller: Poller) -> None:
    api.add_memory(**ANA, content="Likes tea")
    api.add_message(**ANA, thread_id="t", role="user", content="Hello")
    export = api.export_user(**ANA)
    api.forget_user(**ANA)
    poller.poll()
    api.import_user(**ANA, export=export, lift_tombstones=True)
    assert poller.poll() == [("user", "ana", "added")]
    api.add_memory(user_id="bo", content="Likes beer")
    poller.poll()
    api.merge_users(from_user_id="ana", into_user_id="bo")
    assert poller.poll() == [("user", "bo", "changed")]


def test_a_sweep_removes_what_is_older_than_the_policy_says(api: Api) -> None:
    api.add_memory(**ANA, content="Likes tea")
    api.list_changes()
    api.query("update memory.changes set at = at - interval '6 days' returning 1")
    api.sweep()
    assert len(api.list_changes(**ANA)) == 1
    api.set_policy(settings={"changes": {"keep": "5 days"}})
    api.sweep()
    assert api.list_changes(**ANA) == []
