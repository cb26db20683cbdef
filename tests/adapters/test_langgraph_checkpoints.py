"""How long the LangGraph checkpointer keeps the states of graphs, and what that costs."""

from __future__ import annotations

import contextlib
from typing import Any

import psycopg
import pytest
from agent_memory import ConflictError, Memory
from agent_memory.adapters.langgraph import AgentMemorySaver
from langgraph.graph import START, StateGraph
from psycopg.types.json import Jsonb

from tests.adapters.graphs import State, config, counting, rows
from tests.support.sessions import Sessions, code
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F21")


class TestRetention:
    def run(self, saver: AgentMemorySaver, *threads: str, turns: int = 3) -> None:
        for thread in threads:
            for _ in range(turns):
                counting(saver).invoke({"items": ["said"]}, config(thread))

    def test_a_pruned_thread_keeps_its_state(self, saver: AgentMemorySaver, api: Api) -> None:
        self.run(saver, "pruned", "other")
        before = counting(saver).get_state(config("pruned")).values
        saver.prune(["pruned"])
        assert counting(saver).get_state(config("pruned")).values == before
        assert rows(api, thread_id="pruned") | {"checkpoint_writes": 0} == {
            "checkpoints": 1, "checkpoint_blobs": 1, "checkpoint_writes": 0}  # fmt: skip
        assert rows(api, thread_id="other")["checkpoints"] == 9
        assert counting(saver).invoke({"items": []}, config("pruned"))["turns"] == 4

    def test_the_finished_calls_of_subgraphs_are_pruned(self, saver: AgentMemorySaver, api: Api) -> None:
        inner = counting(saver)
        outer: Any = StateGraph(State).add_node("inner", inner).add_edge(START, "inner").compile(checkpointer=saver)
        for _ in range(3):
            outer.invoke({"items": []}, config())
        assert api.value("select count(distinct namespace) from memory.checkpoints") > 1
        saver.prune(["thread"])
        assert api.value("select array_agg(namespace) from memory.checkpoints") == [""]

    def test_a_delta_channel_is_not_pruned(self, saver: AgentMemorySaver, api: Api) -> None:
        self.run(saver, "plain")
        checkpoint: Any = {"v": 4, "id": "1", "ts": "", "channel_values": {}, "channel_versions": {}}
        saver.put(config("delta"), checkpoint, {"counters_since_delta_snapshot": {"x": (1, 1)}}, {})
        before = rows(api)
        with pytest.raises(NotImplementedError, match="delta"), api.connection.transaction():
            saver.prune(["plain", "delta"])
        assert rows(api) == before

    def test_deletion(self, saver: AgentMemorySaver, api: Api, memory: Memory) -> None:
        self.run(saver, "one", "two", "three")
        memory.add_message("ana", "one", "user", "I live in Oslo")
        memory.add_message("ana", "two", "user", "I live in Oslo")
        saver.delete_thread("one")
        assert not any(rows(api, thread_id="one").values())
        assert [m.content for m in memory.get_messages("ana", "one")] == ["I live in Oslo"]
        memory.delete_thread("ana", "two")  # with messages
        memory.delete_thread("ana", "three")  # without
        assert not any(rows(api).values())

    def test_runs_are_deleted(self, saver: AgentMemorySaver, api: Api) -> None:
        for run in ("a", "b"):
            counting(saver).invoke({"items": [run]}, {**config(), "metadata": {"run_id": run}})
        state = counting(saver).get_state(config()).values
        saver.delete_for_runs(["a"])
        assert api.value("select array_agg(distinct metadata ->> 'run_id') from memory.checkpoints") == ["b"]
        assert counting(saver).get_state(config()).values == state

    def test_a_copy_goes_its_own_way(self, saver: AgentMemorySaver) -> None:
        self.run(saver, "one")
        saver.copy_thread("one", "copy")
        assert counting(saver).invoke({"items": []}, config("copy"))["turns"] == 4
        assert counting(saver).get_state(config("one")).values["turns"] == 3
        with pytest.raises(ConflictError):
            saver.copy_thread("one", "copy")

    def test_a_thread_expires_as_a_whole(self, saver: AgentMemorySaver, api: Api) -> None:
        api.set_policy(settings={"checkpoints": {"expires_after": "1 day"}}, user_id="ana")
        self.run(saver, "old", "new", "again")
        later = "update memory.checkpoints set expires_at = now() - interval '1 s'"
        api.connection.execute(f"{later} where thread_id in ('old', 'again') and expires_at is not null")
        assert rows(api, thread_id="old")["checkpoints"] == 9
        assert saver.get_tuple(config("old")) is None
        assert [*saver.list(config("old"))] == []
        assert len([*saver.list(None)]) == 9
        self.run(saver, "again", turns=1)
        assert counting(saver).get_state(config("again")).values["turns"] == 1
        assert api.sweep()["checkpoints"] == 9
        assert rows(api, thread_id="old") == {"checkpoints": 0, "checkpoint_blobs": 0, "checkpoint_writes": 0}
        assert counting(saver).get_state(config("new")).values["turns"] == 3

    def test_a_graph_at_work_goes_on_though_its_thread_has_expired(self, saver: AgentMemorySaver, api: Api) -> None:
        """It loaded what it does not pass again."""
        api.set_policy(settings={"checkpoints": {"expires_after": "1 day"}}, user_id="ana")
        values: dict[str, Any] = {"profile": ["kept"], "messages": ["one"]}
        first: Any = {"v": 4, "id": "1", "ts": "", "channel_values": values,
                      "channel_versions": {"profile": "1", "messages": "1"}}  # fmt: skip
        loaded = saver.put(config(checkpoint_ns=""), first, {}, {"profile": "1", "messages": "1"})
        api.connection.execute("update memory.checkpoints set expires_at = now() - interval '1 s'")
        second: Any = {**first, "id": "2", "channel_values": {**values, "messages": ["one", "two"]},
                       "channel_versions": {"profile": "1", "messages": "2"}}  # fmt: skip
        saver.put(loaded, second, {}, {"messages": "2"})
        stored = saver.get_tuple(config())
        assert stored is not None
        assert stored.checkpoint["channel_values"] == {"profile": ["kept"], "messages": ["one", "two"]}

    def test_an_expired_thread_is_not_copied_and_may_be_copied_to(self, saver: AgentMemorySaver, api: Api) -> None:
        api.set_policy(settings={"checkpoints": {"expires_after": "1 day"}}, user_id="ana")
        self.run(saver, "old", "new")
        later = "update memory.checkpoints set expires_at = now() - interval '1 s'"
        api.connection.execute(f"{later} where thread_id = 'old' and expires_at is not null")
        assert api.copy_checkpoints(user_id="ana", thread_id="old", new_thread_id="copy") == 0
        saver.copy_thread("new", "old")
        assert counting(saver).get_state(config("old")).values["turns"] == 3

    def test_a_user_is_forgotten_with_the_states_of_graphs(self, saver: AgentMemorySaver, api: Api) -> None:
        self.run(saver, "one")
        self.run(AgentMemorySaver(Memory(api.connection), "bo"), "one")
        before = rows(api, user_id="bo")
        exported = api.export_user(user_id="ana")
        receipt = api.forget_user(user_id="ana")
        assert receipt["tables"]["checkpoints"] == 9
        assert not any(rows(api, user_id="ana").values())
        assert rows(api, user_id="bo") == before
        api.import_user(user_id="cy", export={**exported, "user_id": "cy"})
        state = counting(AgentMemorySaver(Memory(api.connection), "cy")).get_state(config("one")).values
        assert state["turns"] == 3


@pytest.mark.parametrize("wrong", [
    {"checkpoint": {"channel_versions": [1]}}, {"checkpoint": {"channel_values": "x"}}, {"types": "{null}"},
    {"channels": ["c" * 601]}, {"metadata": {"run_id": "r" * 601}},
], ids=str)  # fmt: skip
def test_what_could_not_be_read_again_is_refused(api: Api, wrong: dict[str, Any]) -> None:
    given = {"user_id": "ana", "thread_id": "t", "checkpoint_id": "1", "checkpoint": {}, "channels": ["a"],
             "versions": ["1"], "types": ["t"], "blobs": '{"1"}'}  # fmt: skip
    api.put_checkpoint(**given)
    named = "channels" if {"versions", "types"} & wrong.keys() else next(iter(wrong))
    with pytest.raises(psycopg.Error, match=f"^{named}: ") as refused, api.connection.transaction():
        api.put_checkpoint(**given | wrong)
    assert refused.value.sqlstate == ("54000" if "600" in str(refused.value) else "22023")
    assert refused.value.diag.message_hint
    assert len(api.list_checkpoints(user_id="ana")) == 1


@pytest.mark.parametrize(("wrong", "named"), [
    ({"places": "{null}"}, "channels"), ({"task_id": "\u6211" * 255}, "task_id"),
], ids=str)  # fmt: skip
def test_writes_with_nulls_or_long_names_are_refused(api: Api, wrong: dict[str, Any], named: str) -> None:
    given = {"user_id": "ana", "thread_id": "t", "checkpoint_id": "1", "task_id": "x", "places": "{0}",
             "channels": ["a"], "types": ["t"], "blobs": "{null}"}  # fmt: skip
    with pytest.raises(psycopg.Error, match=f"^{named}: ") as refused, api.connection.transaction():
        api.put_checkpoint_writes(**given | wrong)
    assert refused.value.diag.message_hint
    api.put_checkpoint_writes(**given)
    assert rows(api)["checkpoint_writes"] == 1


def test_pages_of_all_threads_have_the_checkpoints_of_copies(saver: AgentMemorySaver, api: Api) -> None:
    counting(saver).invoke({"items": []}, config("one"))
    for number in range(3):
        saver.copy_thread("one", f"copy {number}")
    page: list[Any] = [None]
    seen: list[Any] = []
    while page:
        page = api.list_checkpoints(user_id="ana", row_limit=2, before=seen[-1][0] if seen else None)
        seen += [(row.checkpoint_id, row.thread_id) for row in page]
    assert len(seen) == len(set(seen)) == 12
    assert len([*saver.list(None, limit=5)]) == 5


def test_versions_without_a_value_are_not_looked_up_unless_they_change(saver: AgentMemorySaver, api: Api) -> None:
    counting(saver).invoke({"items": ["said"]}, config())
    found = saver.get_tuple(config())
    assert found is not None
    assert found.checkpoint["channel_values"]["items"][0] == "said"
    assert "blobless_versions" not in found.checkpoint
    stored = api.value("select checkpoint from memory.checkpoints order by checkpoint_id desc limit 1")
    channel, version = next(iter(stored["blobless_versions"].items()))
    assert stored["channel_versions"][channel] == version
    # Another program stores the checkpoint again, with a value in another version or in the same one.
    for number in ("another", version):
        again = {**stored, "channel_versions": {**stored["channel_versions"], channel: number}}
        given = {"user_id": "ana", "thread_id": f"of {number}", "checkpoint_id": "1", "checkpoint": Jsonb(again)}
        api.put_checkpoint(**given, channels=[channel], versions=[number], types=["t"], blobs='{"1"}')
        found_again = api.value(f"select channels from memory.get_checkpoint('ana', 'of {number}')")
        assert channel in found_again


def test_writes_to_one_place_and_ids_of_any_length(api: Api) -> None:
    given = {"user_id": "ana", "thread_id": "t", "checkpoint_id": "1", "task_id": "x", "channels": ["a", "b"]}
    api.put_checkpoint_writes(**given, places="{-1,-1}", types=["t", "t"], blobs='{"1","2"}')
    assert api.value("select array_agg(channel) from memory.checkpoint_writes") == ["b"]
    api.put_checkpoint_writes(**given | {"task_id": "y"}, places="{1,1}", types=["t", "t"], blobs='{"1","2"}')
    assert api.value("select array_agg(channel) from memory.checkpoint_writes where task_id = 'y'") == ["a"]
    for places, kept in (("{0,1}", {0: "a", 1: "b"}), ("{1,-1}", {-1: "b", 0: "a", 1: "b"}),
                         ("{-1,0}", {-1: "a", 0: "a", 1: "b"})):  # fmt: skip
        api.put_checkpoint_writes(**given | {"task_id": "z"}, places=places, types=["t", "t"], blobs='{"1","2"}')
        found = api.connection.execute("select place, channel from memory.checkpoint_writes where task_id = 'z'")
        assert dict(found.fetchall()) == kept
    for size in (100, 255):
        ids = dict.fromkeys(("user_id", "thread_id", "checkpoint_id", "namespace"), "é" * size)
        with contextlib.nullcontext() if size == 100 else pytest.raises(psycopg.Error, match="2000 bytes"):
            api.put_checkpoint(**ids, checkpoint={"v": 4})


def test_calls_at_once_do_not_deadlock_in_whatever_order_their_places_come(sessions: Sessions) -> None:
    write = {"user_id": "ana", "thread_id": "t", "checkpoint_id": "1", "task_id": "x"}
    one = {**write, "channels": ["a"], "types": ["t"], "blobs": '{"1"}'}
    first = sessions.new()
    with first.connection.transaction():
        first.put_checkpoint_writes(**one, places="{1}")
        second = sessions.start(
            "put_checkpoint_writes", **write, channels=["b", "b"], types=["t", "t"], blobs='{"1","2"}', places="{2,1}"
        )
        first.put_checkpoint_writes(**one, places="{2}")
    assert code(second) is None
    assert first.value("select array_agg(channel order by place) from memory.checkpoint_writes") == ["a", "a"]


def test_the_newest_checkpoint_comes_with_what_is_written_beside_it(api: Api) -> None:
    place = {"user_id": "ana", "thread_id": "t"}
    value = {"channels": ["a"], "versions": ["1"], "types": ["t"], "blobs": '{"1"}'}
    api.put_checkpoint(**place, checkpoint_id="1", checkpoint={"channel_versions": {"a": "1"}}, **value)
    [alone] = api.get_checkpoint(**place)
    assert [alone] == api.get_checkpoint(**place, checkpoint_id="1") == api.list_checkpoints(**place)
    assert (alone.channels, alone.write_tasks, alone.write_blobs) == (["a"], None, None)
    two = {"channels": ["x", "y"], "types": ["t", "u"], "blobs": '{"2","3"}', "places": "{0,1}"}
    api.put_checkpoint_writes(**place, checkpoint_id="1", task_id="second", task_path="~2", **two)
    api.put_checkpoint_writes(**place, checkpoint_id="1", task_id="third", task_path="~1", **two)
    api.put_checkpoint_writes(**place, checkpoint_id="2", task_id="of another", **two)
    [newest] = api.get_checkpoint(**place)
    assert [newest] == api.get_checkpoint(**place, checkpoint_id="1") == api.list_checkpoints(**place)
    assert newest.write_tasks == ["third", "third", "second", "second"]
    assert newest.write_channels == ["x", "y", "x", "y"]
    assert newest.write_types == ["t", "u", "t", "u"]
    assert newest.write_blobs == [b"2", b"3", b"2", b"3"]
    assert newest[:10] == alone[:10]
    assert api.get_checkpoint(**place | {"thread_id": "another"}) == []


def test_of_two_expiries_of_a_thread_the_later_one_counts(api: Api) -> None:
    place = {"user_id": "ana", "thread_id": "t"}
    for number in "123":
        api.put_checkpoint(**place, checkpoint_id=number, checkpoint={}, namespace="" if number == "1" else "sub")
    expire = "update memory.checkpoints set expires_at = now() + %s * interval '1 day' where checkpoint_id = %s"
    for number, days, found in (("1", 1, 1), ("2", -1, 1), ("3", 1, 1), ("1", -1, 1), ("3", -2, 0)):
        api.connection.execute(expire, [days, number])
        assert len(api.get_checkpoint(**place)) == found
        assert len(api.get_checkpoint(**place, namespace="sub")) == found
        assert len(api.get_checkpoint(**place, checkpoint_id="1")) == found
        assert len(api.list_checkpoints(**place)) == 3 * found
