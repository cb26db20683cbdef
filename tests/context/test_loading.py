"""The parts of a context: memories, the summary, and the messages since."""

from __future__ import annotations

from typing import Any

import pytest

from tests.context.steps import messages, parts, remember, said, without_recall
from tests.support.protocol import ANA
from tests.support.sqlapi import Api, fenced
from tests.support.summaries import each_round


class TestLoading:
    @pytest.fixture(autouse=True)
    def _without_recall(self, api: Api) -> None:
        without_recall(api)

    @pytest.fixture(autouse=True)
    def _each_round(self, api: Api) -> None:
        each_round(api)

    @pytest.mark.feature("A4", "D6")
    def test_gives_memories_then_the_summary_then_the_messages_since(self, api: Api) -> None:
        remember(api, "Likes tea")
        api.talk(**ANA, rounds=3)
        api.finish_jobs(summary="They said hello.")
        api.talk(**ANA, rounds=1)
        memories = "## Your Memories\n\n**Facts about the user or environment:**\n1. Likes tea"
        summary = "Summary of the conversation so far:\nThey said hello."
        context = api.get_context(**ANA)
        assert [part[:4] for part in context] == [
            (1, "system", fenced(memories), "memories"),
            (2, "system", fenced(summary), "thread_summary"),
            (3, "user", "question 0", "message"),
            (4, "assistant", "answer 0", "message"),
        ]
        [stored] = api.get_thread_summary(**ANA)
        covered = {"summary_id": str(stored.summary_id), "start_seq": 0, "end_seq": 5}
        assert [said(part) for part in context[1:]] == [covered, {}, {}]

    @pytest.mark.feature("D6")
    def test_gives_the_messages_while_no_summary_is_ready(self, api: Api) -> None:
        api.talk(**ANA, rounds=3)
        assert len(parts(api)) == 6
        [job] = api.claim_jobs(worker="w")  # the first summary is being written
        assert [source for source, _ in parts(api)] == ["message"] * 6
        job_id = {"user_id": "ana", "job_id": job.job_id, "lease_token": job.lease_token}
        api.complete_job(**job_id, result={"summary": "Done."})
        assert parts(api) == [
            ("thread_summary", fenced("Summary of the conversation so far:\nDone.")),
            ("message", "answer 2"),  # the newest is there even when the summary covers it
        ]

    @pytest.mark.feature("D6")
    def test_never_misses_or_repeats_a_message_as_summaries_move_on(self, api: Api) -> None:
        for number in range(20):
            api.add_messages(**ANA, messages=[{"role": "user", "content": f"q{number}"}])
            api.add_messages(**ANA, messages=[{"role": "assistant", "content": f"a{number}"}])
            summary = api.get_thread_summary(**ANA)
            covered = summary[0].end_seq + 1 if summary else 0
            assert messages(api) == [f"{'qa'[seq % 2]}{seq // 2}" for seq in range(covered, 2 * number + 2)]
            if number % 3 == 0:
                api.finish_jobs()

    @pytest.mark.feature("A3")
    def test_of_one_agent_has_its_messages_and_memories_only(self, api: Api) -> None:
        for agent in ("cook", "tutor"):
            api.add_message(**ANA, role="user", content=f"to the {agent}", agent_id=agent)
            remember(api, f"known to the {agent}", agent_id=agent)
        memories, message = parts(api, agent_id="cook")
        assert memories[1].endswith("**\n1. known to the cook\n</recalled>")
        assert message == ("message", "to the cook")

    @pytest.mark.feature("A3")
    def test_of_one_agent_has_no_summary_that_continues_one_of_what_others_said(self, api: Api) -> None:
        api.set_policy(settings={"summary": {"window_size": 2}})
        for agent in ("tutor", "cook", "cook"):
            api.talk(**ANA, rounds=3, agent_id=agent)
            assert api.finish_jobs(summary=f"With the {agent}, after all before.") >= 1
        assert api.value("select count(*) from memory.summaries where base_summary_id is not null") == 2
        assert "thread_summary" in dict(parts(api))
        assert [source for source, _ in parts(api, agent_id="cook")] == ["message"] * 12


class TestLongThreads:
    @pytest.fixture(autouse=True)
    def _without_recall(self, api: Api) -> None:
        without_recall(api)

    """Of a thread with 5,000 messages, a read touches only the messages that it shows."""

    @pytest.fixture
    def long_thread(self, api: Api) -> None:
        api.set_policy(settings={"summary": {"enabled": False}, "cadence": {"fact_extraction_every_n": 0}})
        for thread, size in (("t1", 5000), ("t2", 2000)):
            messages = [{"role": "user", "content": f"message {number}"} for number in range(size)]
            api.add_messages(user_id="ana", thread_id=thread, messages=messages)
        api.connection.execute("analyze memory.messages")

    @pytest.mark.usefixtures("long_thread")
    def test_are_no_more_work_for_a_context_than_short_ones(self, api: Api) -> None:
        shown: list[Any] = []
        call = {**ANA, "max_tokens": 250}
        assert api.entries_read(lambda: shown.extend(api.get_context(**call))) < 500
        assert 12 <= len(shown) <= 90
        assert shown[-1].content == "message 4999"
