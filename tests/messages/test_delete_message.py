"""Taking one message back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from agent_memory import Memory

from tests.messages.steps import ANA, add, contents
from tests.support.protocol import claim, lease
from tests.support.sqlapi import Api, refused
from tests.support.summaries import compress, compressing, each_round, write

pytestmark = pytest.mark.feature("A11")


def test_hides_the_message_alone_and_counts_it_out(api: Api) -> None:
    api.talk(**ANA, rounds=2)
    assert api.delete_message(**ANA, seq=1) is True
    assert contents(api) == ["question 0", "question 1", "answer 1"]
    assert api.list_threads(user_id="ana")[0].message_count == 3
    assert api.delete_message(**ANA, seq=1) is False
    assert add(api).seq == 4


def test_returns_false_where_there_is_no_such_message(api: Api) -> None:
    assert api.delete_message(**ANA, seq=0) is False
    add(api, expires_at="2020-01-01")
    add(api, user_id="bob")
    for seq in (0, 1, -1, 2**62):
        assert api.delete_message(**ANA, seq=seq) is False
    assert contents(api, user_id="bob") == ["Hello"]


def test_a_message_without_a_number_is_refused(api: Api) -> None:
    with refused("seq"):
        api.delete_message(**ANA, seq=None)


def test_search_and_contexts_do_not_show_it(api: Api) -> None:
    add(api, "The dentist is Dr Okafor")
    api.delete_message(**ANA, seq=0)
    assert api.search(user_id="ana", query="dentist Okafor", mode="keyword") == []
    assert api.get_context(user_id="ana", thread_id="t2", query="dentist Okafor") == []


def test_drops_the_summaries_that_cover_it_and_keeps_earlier_ones(api: Api) -> None:
    each_round(api)
    api.talk(**ANA, rounds=3)
    api.finish_jobs(summary="Early news.")
    api.talk(**ANA, rounds=1)
    api.finish_jobs(summary="Late news.")
    [summary] = api.get_thread_summary(**ANA)
    assert api.delete_message(**ANA, seq=summary.end_seq) is True
    [earlier] = api.get_thread_summary(**ANA)
    assert earlier.end_seq < summary.end_seq


def test_a_job_that_reads_it_begins_again_without_it(api: Api) -> None:
    each_round(api)
    api.talk(**ANA, rounds=3)
    job = claim(api, "summarize_thread")
    api.delete_message(**ANA, seq=5)
    with pytest.raises(psycopg.Error) as lost:
        api.complete_job(**lease(job), result={"points": []})
    assert lost.value.sqlstate == "AM001"
    again = claim(api, "summarize_thread")
    assert "answer 2" not in str(again.payload)


def test_a_summary_stays_that_does_not_cover_it(api: Api) -> None:
    compressing(api)
    write(api, *[20] * 10)
    compress(api)
    assert api.delete_message(**ANA, seq=9) is True
    assert len(api.get_thread_summary(**ANA)) == 1


def test_of_two_that_delete_it_one_does(dsn: str) -> None:
    with Memory(dsn) as memory, ThreadPoolExecutor(4) as threads:
        memory.add_messages("ana", "t1", [{"role": "user", "content": str(number)} for number in range(5)])
        deleted = threads.map(lambda seq: memory.delete_message("ana", "t1", seq % 5), range(20))
        assert sum(deleted) == 5
