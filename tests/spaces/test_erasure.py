"""Who leaves a space, what stays there, and the end of a space."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from tests.secrets.conftest import new_key, use_keys
from tests.spaces.steps import refused
from tests.support.sqlapi import TABLES, Api

pytestmark = pytest.mark.feature("F24")

TEAM = "space:team"


def write_as_ben(ben: Api) -> Any:
    """Store one of each kind in the space as ben, and return the id of the memory."""
    memory_id = ben.add_memory(user_id=TEAM, content="The password of the door is zqx-ben").memory_id
    ben.add_memories(user_id=TEAM, memories=[{"content": "zqx-ben likes rain"}, {"content": "zqx-ben likes snow"}])
    ben.add_document(user_id=TEAM, title="zqx-ben", content="zqx-ben writes a lot. " * 5)
    ben.store_artifact(user_id=TEAM, key="log", content="line of zqx-ben\n" * 20)
    ben.add_message(user_id=TEAM, thread_id="chat", role="user", content="Hello, says zqx-ben")
    many = [{"role": "user", "content": f"{n} zqx-ben", "idempotency_key": str(n)} for n in range(3)]
    stored = ben.add_messages(user_id=TEAM, thread_id="chat", messages=many)
    assert [row.seq for row in stored] == [1, 2, 3]
    assert [row.seq for row in ben.add_messages(user_id=TEAM, thread_id="chat", messages=many)] == [1, 2, 3]
    return memory_id


def tables_with(api: Api, text: str) -> dict[str, int]:
    """How many rows of each table hold a text."""
    found: dict[str, int] = {}
    for [table] in api.query(TABLES):
        number = api.value(f"select count(*) from memory.{table} as t where t::text like %(text)s", text=f"%{text}%")
        found |= {table: number} if number else {}
    return found


def test_a_forgotten_user_leaves_the_contributions_without_the_id(spaces: Api, session: Callable[[str], Api]) -> None:
    memory_id = write_as_ben(session("ben"))
    spaces.unbind_role(role_name="space_writer")
    tables = spaces.forget_user(user_id="ben")["tables"]
    assert tables["space_grants"] == 1
    assert tables["space_writes"] == 9
    assert spaces.get_memory(user_id=TEAM, memory_id=memory_id).content.endswith("zqx-ben")
    assert len(spaces.get_messages(user_id=TEAM, thread_id="chat")) == 4
    assert spaces.query("select from memory.space_writes") == []
    assert "ben" not in {row[0] for row in spaces.query("select member from memory.space_grants")}
    for row in spaces.list_memories(user_id=TEAM):
        assert "ben" not in str(row).replace("zqx-ben", "")


def test_a_user_who_is_forgotten_in_spaces_leaves_nothing(spaces: Api, session: Callable[[str], Api]) -> None:
    ben = session("ben")
    memory_id = write_as_ben(ben)
    ben.update_memory(user_id=TEAM, memory_id=memory_id, content="The password is now zqx-ben-2")
    of_others = spaces.add_memory(user_id=TEAM, content="Somebody else likes rain").memory_id
    reworded = spaces.add_memory(user_id=TEAM, content="Lunch is at noon").memory_id
    ben.update_memory(user_id=TEAM, memory_id=reworded, content="Lunch is at one, says zqx-ben")
    spaces.add_message(user_id=TEAM, thread_id="chat", role="user", content="A message of somebody else")
    spaces.connection.execute(
        "insert into memory.memories (user_id, content, thread_id, source, source_seqs)"
        " values (%s, 'zqx-ben says hello', 'chat', 'extraction', '{0,1}'),"
        " (%s, 'Two people say hello', 'chat', 'extraction', '{0,4}')",
        [TEAM, TEAM],
    )
    tables = spaces.forget_user(user_id="ben", spaces="forget")["tables"]
    assert (tables["memories"], tables["messages"], tables["documents"], tables["artifacts"]) == (5, 4, 1, 1)
    assert tables_with(spaces, "zqx-ben") == {}
    assert {row.content for row in spaces.list_memories(user_id=TEAM)} == {
        "Releases happen on Thursdays", "Somebody else likes rain", "Two people say hello"
    }  # fmt: skip
    assert spaces.get_memory(user_id=TEAM, memory_id=of_others)
    assert [row.seq for row in spaces.get_messages(user_id=TEAM, thread_id="chat")] == [4]
    assert len(spaces.list_documents(user_id=TEAM)) == 1
    assert [row.ok for row in spaces.doctor() if "count" in row.check_name] == [True] * len(
        [row for row in spaces.doctor() if "count" in row.check_name]
    )
    assert ben.connection.execute("select 1").fetchone()
    refused(ben, "list_memories", "42501", user_id=TEAM)


def put_checkpoint(api: Api, thread_id: str, checkpoint_id: str, text: str) -> None:
    step: dict[str, Any] = {"user_id": TEAM, "thread_id": thread_id, "checkpoint_id": checkpoint_id}
    values = {"channels": ["c"], "types": [text], "blobs": f"{{{text}}}"}
    api.put_checkpoint(**step, checkpoint={"said": text}, versions=[checkpoint_id], **values)
    api.put_checkpoint_writes(**step, task_id=text, places="{0}", **values)


def test_what_a_forgotten_user_named_and_left_unfinished_goes_too(spaces: Api, session: Callable[[str], Api]) -> None:
    has_pgcrypto = bool(spaces.query("select from pg_extension where extname = 'pgcrypto'"))
    spaces.grant_space(space="team", user_id="ana", access="write")
    ben, ana, key = session("ben"), session("ana"), new_key()
    for thread, api, text in (("his", ben, "zqx-ben"), ("hers", ana, "zqx-ana")):
        api.set_thread(user_id=TEAM, thread_id=thread, title=f"Of {text}", metadata={"by": text})
        put_checkpoint(api, thread, "1", text)
        api.add_artifact_piece(user_id=TEAM, content=f"The beginning, by {text}")
        if has_pgcrypto:
            with api.connection.transaction():
                use_keys(api, key)
                api.set_secret(user_id=TEAM, name=f"mail of {text}", value="1234")
            with spaces.connection.transaction():
                use_keys(spaces, key)
                assert spaces.get_secret(user_id=TEAM, name=f"mail of {text}") == "1234"
    put_checkpoint(ana, "his", "2", "both")
    ben.set_thread(user_id=TEAM, thread_id="both", title="Of zqx-ben", metadata={"by": "zqx-ben"})
    ana.set_thread(user_id=TEAM, thread_id="both", title="Of zqx-ana")
    spaces.copy_thread(user_id=TEAM, thread_id="his", new_thread_id="copy")
    spaces.copy_checkpoints(user_id=TEAM, thread_id="his", new_thread_id="copy")
    tables = spaces.forget_user(user_id="ben", spaces="forget")["tables"]
    assert tables_with(spaces, "zqx-ben") == {}
    assert (tables["threads"], tables["checkpoints"], tables["artifact_parts"]) == (3, 4, 1)
    threads = {row.thread_id: (row.title, row.metadata) for row in spaces.list_threads(user_id=TEAM)}
    assert threads["both"] == ("Of zqx-ana", {})
    assert threads["hers"] == ("Of zqx-ana", {"by": "zqx-ana"})
    assert threads["copy"] == (None, {"copied_from": "his", "copied_upto_seq": -1})
    assert set(tables_with(spaces, "zqx-ana")) - {"space_writes"} == {
        "artifact_parts", "checkpoint_blobs", "checkpoint_writes", "checkpoints", "threads",
        *(["secret_reads", "secrets"] if has_pgcrypto else []),
    }  # fmt: skip


def test_who_reuses_an_id_wrote_what_has_it_now(spaces: Api, session: Callable[[str], Api]) -> None:
    ben = session("ben")
    memory_id = write_as_ben(ben)
    ben.delete_thread(user_id=TEAM, thread_id="chat")
    ben.delete_artifact(user_id=TEAM, key="log")
    ben.forget_memory(user_id=TEAM, memory_id=memory_id)
    spaces.add_message(user_id=TEAM, thread_id="chat", role="user", content="A message of somebody else")
    spaces.store_artifact(user_id=TEAM, key="log", content="A log of somebody else")
    spaces.add_memories(user_id=TEAM, memories=[{"memory_id": str(memory_id), "content": "Said by somebody else"}])
    spaces.forget_user(user_id="ben", spaces="forget")
    assert [row.content for row in spaces.get_messages(user_id=TEAM, thread_id="chat")] == [
        "A message of somebody else"
    ]
    assert [row.key for row in spaces.list_artifacts(user_id=TEAM)] == ["log"]
    assert spaces.get_memory(user_id=TEAM, memory_id=memory_id).content == "Said by somebody else"


def test_a_copied_message_keeps_its_writer(spaces: Api, session: Callable[[str], Api]) -> None:
    ben = session("ben")
    ben.add_message(user_id=TEAM, thread_id="copy", role="user", content="An earlier message of zqx-ben")
    ben.delete_thread(user_id=TEAM, thread_id="copy")
    spaces.add_message(user_id=TEAM, thread_id="chat", role="user", content="A message of somebody else")
    ben.add_message(user_id=TEAM, thread_id="chat", role="user", content="Hello, says zqx-ben")
    spaces.copy_thread(user_id=TEAM, thread_id="chat", new_thread_id="copy")
    spaces.forget_user(user_id="ben", spaces="forget")
    assert tables_with(spaces, "zqx-ben") == {}
    assert [row.seq for row in spaces.get_messages(user_id=TEAM, thread_id="copy")] == [0]


def test_what_was_drawn_from_messages_that_are_gone_is_forgotten_too(
    spaces: Api, session: Callable[[str], Api]
) -> None:
    session("ben").add_message(user_id=TEAM, thread_id="chat", role="user", content="I like rain, says zqx-ben")
    spaces.connection.execute(
        "insert into memory.memories (user_id, content, thread_id, source, source_seqs)"
        " values (%s, 'zqx-ben likes rain', 'chat', 'extraction', '{0}')",
        [TEAM],
    )
    spaces.connection.execute("update memory.messages set expires_at = now() - interval '1 day'")
    spaces.sweep()
    assert spaces.value("select count(*) from memory.messages") == 0
    assert spaces.forget_user(user_id="ben", spaces="forget")["tables"]["memories"] == 1
    assert tables_with(spaces, "zqx-ben") == {}


def test_a_merged_user_takes_the_contributions_along(spaces: Api, session: Callable[[str], Api]) -> None:
    session("ben").add_memory(user_id=TEAM, content="zqx-ben was here")
    spaces.unbind_role(role_name="space_writer")
    spaces.merge_users(from_user_id="ben", into_user_id="ana")
    assert spaces.query("select distinct member from memory.space_writes") == [("ana",)]
    spaces.forget_user(user_id="ana", spaces="forget")
    assert tables_with(spaces, "zqx-ben") == {}


def test_a_deleted_space_leaves_nothing_and_its_name_is_free(spaces: Api, session: Callable[[str], Api]) -> None:
    write_as_ben(session("ben"))
    receipt = spaces.delete_space(space="team")
    assert receipt["tables"]["memories"] == 4
    assert receipt["receipt_id"]
    left = {
        table: number
        for [table] in spaces.query(TABLES)
        if spaces.query(
            "select from pg_attribute where attrelid = %(t)s::regclass and attname = 'user_id'", t=f"memory.{table}"
        )
        and (number := spaces.value(f"select count(*) from memory.{table} where user_id = %(s)s", s=TEAM))
    }
    assert left == {}
    assert tables_with(spaces, "zqx-ben") == {}
    refused(spaces, "add_memory", "22023", user_id=TEAM, content="Hello")
    refused(session("ben"), "add_memory", "42501", user_id=TEAM, content="Hello")
    refused(spaces, "delete_space", "P0002", space="team")
    spaces.create_space(space="team")
    assert spaces.list_memories(user_id=TEAM) == []
    assert [row.member_count for row in spaces.list_spaces() if row.space == "team"] == [0]
    refused(session("ben"), "list_memories", "42501", user_id=TEAM)


def test_an_export_goes_into_a_space_that_was_created(spaces: Api) -> None:
    export = spaces.export_user(user_id=TEAM)
    assert "spaces" not in export
    assert "space_grants" not in export
    spaces.delete_space(space="team")
    refused(spaces, "import_user", "22023", user_id=TEAM, export=export, lift_tombstones=True)
    spaces.create_space(space="team")
    spaces.grant_space(space="team", user_id="ana")
    assert spaces.import_user(user_id=TEAM, export=export, lift_tombstones=True)["memories"] == 1
    assert spaces.search(user_id="ana", query="thursdays", mode="keyword", spaces=["team"])


@contextlib.contextmanager
def at_once(*calls: Callable[[], Any]) -> Iterator[list[Any]]:
    """Make calls in threads; yields what they return or raise, which is complete afterwards."""
    outcomes: list[Any] = []

    def make(call: Callable[[], Any]) -> None:
        try:
            outcomes.append(call())
        except psycopg.Error as error:
            outcomes.append(error)

    threads = [threading.Thread(target=make, args=[call]) for call in calls]
    for thread in threads:
        thread.start()
    yield outcomes
    for thread in threads:
        thread.join()


def test_a_deletion_waits_for_writers_and_later_ones_are_refused(
    spaces: Api, session: Callable[[str], Api], connect: Callable[..., psycopg.Connection]
) -> None:
    ben, app, admin = session("ben"), Api(connect()), Api(connect())
    with ben.connection.transaction():
        ben.add_memory(user_id=TEAM, content="Written before the end")
        with at_once(
            lambda: admin.delete_space(space="team"),
            lambda: app.add_memory(user_id=TEAM, content="Written after the end"),
        ) as outcomes:
            waiting = "select count(*) >= 1 from pg_stat_activity where wait_event_type = 'Lock'"
            while not spaces.value(waiting):
                pass
            assert not [each for each in outcomes if isinstance(each, dict)]  # the deletion waits
            ben.connection.execute("commit")
    [receipt] = [each for each in outcomes if isinstance(each, dict)]
    assert receipt["tables"]["memories"] >= 2
    others = [each for each in outcomes if not isinstance(each, dict)]
    assert all((isinstance(each, psycopg.Error) and each.sqlstate == "22023") or each.inserted for each in others)
    assert spaces.value("select count(*) from memory.memories where user_id = 'space:team'") == 0
    assert spaces.value("select count(*) from memory.memory_scopes where user_id = 'space:team'") == 0


def test_grants_and_deletions_at_once_leave_no_grant_of_no_space(
    spaces: Api, connect: Callable[..., psycopg.Connection]
) -> None:
    for number in range(10):
        space = f"s{number}"
        spaces.create_space(space=space)
        first, second, third = (Api(connect()) for _ in "123")
        with at_once(
            lambda api=first, space=space: api.grant_space(space=space, user_id="ana"),  # type: ignore[misc]
            lambda api=second, space=space: api.delete_space(space=space),  # type: ignore[misc]
            lambda api=third, space=space: api.add_memory(user_id=f"space:{space}", content="x"),  # type: ignore[misc]
        ) as outcomes:
            pass
        assert {each.sqlstate for each in outcomes if isinstance(each, psycopg.Error)} <= {"P0002", "22023"}
    orphans = "select from memory.{} as g where not exists (select from memory.spaces as s where s.user_id = g.user_id)"
    assert spaces.query(orphans.format("space_grants")) == []
    assert spaces.query(orphans.format("memories") + " and g.user_id like 'space:%%'") == []


def test_a_revoke_does_not_wait_for_an_open_transaction(spaces: Api, session: Callable[[str], Api]) -> None:
    ben = session("ben")
    with ben.connection.transaction():
        ben.add_memory(user_id=TEAM, content="Written before the revoke")
        spaces.connection.execute("set lock_timeout = '2s'")
        assert spaces.revoke_space(space="team", user_id="ben")
        refused(ben, "add_memory", "42501", user_id=TEAM, content="Written after the revoke")
    assert len(spaces.list_memories(user_id=TEAM)) == 2
