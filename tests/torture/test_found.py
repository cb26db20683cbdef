"""What the long form has found, each as a test of its own."""

from __future__ import annotations

import pytest

from tests.support.sqlapi import Api
from tests.torture.model.world import remove_rows

ANA = {"user_id": "ana", "thread_id": "t"}


@pytest.mark.feature("F5")
def test_forgetting_a_memory_leaves_no_summary_that_nobody_finishes(api: Api) -> None:
    api.talk(**ANA, rounds=10)
    memory_id = api.add_memory(user_id="ana", content="Likes tea").memory_id
    api.compress_thread(**ANA)
    [job] = api.claim_jobs(worker="w", kinds=["compress_thread"])
    held = {"user_id": "ana", "job_id": job.job_id, "lease_token": job.lease_token}
    api.fail_job(**held, error="no luck", retry_after="1 hour")
    unfinished = "select status from memory.summaries where status <> 'completed'"
    assert api.query(unfinished) == [("failed",)]  # until the job's next attempt takes the summary up
    api.forget_memory(user_id="ana", memory_id=memory_id)
    assert api.query(unfinished) == []


@pytest.mark.feature("F10")
def test_a_released_memory_whose_winner_was_deleted_meanwhile_is_current(api: Api) -> None:
    old, new, newest = (api.add_memory(user_id="ana", content=f"Lives in {town}").memory_id for town in "ABC")
    api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="moved")
    api.quarantine_memory(user_id="ana", memory_id=old, reason="planted")
    api.delete_memory(user_id="ana", memory_id=new)
    api.release_memory(user_id="ana", memory_id=old)
    assert {m.memory_id for m in api.list_memories(user_id="ana")} == {old, newest}


@pytest.mark.feature("F5")
def test_a_message_in_quarantine_that_states_what_is_forgotten_goes_too(api: Api) -> None:
    said = "My sister Ada lives in Utrecht"
    api.add_message(**ANA, role="user", content=said, idempotency_key="k")
    api.quarantine_source(user_id="ana", source="message", id="t/0", reason="planted")
    memory_id = api.add_memory(user_id="ana", content=said).memory_id
    api.forget_memory(user_id="ana", memory_id=memory_id)
    assert api.query("select from memory.quarantined_messages") == []
    assert api.get_messages(**ANA) == []


@pytest.mark.feature("F10")
def test_the_key_of_a_message_in_quarantine_counts_after_a_sweep(api: Api) -> None:
    message = {**ANA, "role": "user", "content": "Likes tea", "idempotency_key": "k"}
    seq = api.add_message(**message).seq
    api.quarantine_source(user_id="ana", source="message", id="t/0", reason="planted")
    api.clear_thread(**ANA)
    api.sweep()
    assert api.add_message(**message).seq == seq


@pytest.mark.parametrize("when", ["needed", "each_round"])
def test_a_thread_of_nothing_but_instructions_has_nothing_to_summarise(api: Api, when: str) -> None:
    api.set_policy(settings={"summary": {"when": when}})
    api.add_message(**ANA, role="system", content="Answer in one sentence")
    api.summarize_thread(**ANA, kind="rolling")
    assert api.claim_jobs(worker="w", kinds=["summarize_thread"]) == []
    [job] = api.query("select status, error from memory.jobs where kind = 'summarize_thread'")
    assert (job.status, job.error) == ("completed", None)


def test_what_was_put_away_for_a_summary_is_summarised_anew_when_a_deleted_message_takes_the_summary_away(
    api: Api,
) -> None:
    api.set_policy(settings={"compression": {"recent_messages_to_keep": 2}})
    api.talk(**ANA, rounds=3)
    api.summarize_thread(**ANA, kind="thread")
    api.finish_jobs()
    api.compress_thread(**ANA)  # puts the first four away for the summary of all six
    api.finish_jobs()
    api.delete_message(**ANA, seq=5)
    assert api.get_thread_summary(**ANA) == []
    api.finish_jobs(summary="Four were put away.")
    [summary] = api.get_thread_summary(**ANA)
    assert (summary.summary, summary.start_seq, summary.end_seq) == ("Four were put away.", 0, 4)


@pytest.mark.feature("F5")
def test_what_was_to_be_summarised_anew_when_a_user_was_exported_is_summarised_after_the_import(api: Api) -> None:
    api.set_policy(settings={"compression": {"recent_messages_to_keep": 2}})
    api.talk(**ANA, rounds=3)
    api.compress_thread(**ANA)  # puts the first four away
    api.finish_jobs()
    api.delete_message(**ANA, seq=3)  # with the summary
    export = api.export_user(user_id="ana")
    remove_rows(api.connection, "ana")
    api.import_user(user_id="ana", export=export)
    assert api.get_thread_summary(**ANA) == []
    api.finish_jobs(summary="Three were put away.")
    [summary] = api.get_thread_summary(**ANA)
    assert summary.summary == "Three were put away."


@pytest.mark.feature("F5")
def test_a_user_who_was_forgotten_and_imported_again_can_be_forgotten_again(api: Api) -> None:
    api.add_message(**ANA, role="user", content="I moved to Utrecht")
    api.extract_memories(**ANA)
    api.finish_jobs()
    export = api.export_user(user_id="ana")
    assert export["model_calls"] != []
    for _ in range(2):
        assert api.forget_user(user_id="ana")["tables"]["model_calls"] == len(export["model_calls"])
        api.import_user(user_id="ana", export=export, lift_tombstones=True)
    api.sweep()  # which parses the messages anew
    assert api.export_user(user_id="ana") == export
    api.forget_user(user_id="ana")
    [ledger] = api.query("select array_agg(user_id) as users from memory.model_calls")
    assert ledger.users == [""] * len(export["model_calls"])


@pytest.mark.feature("F5")
def test_the_profile_after_an_import_that_left_a_statement_out_is_made_of_all_messages_that_are_left(api: Api) -> None:
    api.talk(**ANA, rounds=2)
    api.summarize_user(user_id="ana")
    api.finish_jobs()
    memory_id = api.add_memory(user_id="ana", content="Likes tea").memory_id
    export = api.export_user(user_id="ana")
    api.forget_memory(user_id="ana", memory_id=memory_id)
    remove_rows(api.connection, "ana")
    assert api.import_user(user_id="ana", export=export)["memories"] == 0
    assert api.get_user_summary(user_id="ana") == []
    api.summarize_user(user_id="ana")
    [job] = api.claim_jobs(worker="w", kinds=["summarize_user"])
    assert len(job.payload["messages"]) == 4


@pytest.mark.feature("F5")
def test_an_import_leaves_out_a_message_in_quarantine_that_says_what_was_forgotten(api: Api) -> None:
    said = "My sister Ada lives in Utrecht"
    api.add_message(**ANA, role="user", content=said)
    api.quarantine_source(user_id="ana", source="message", id="t/0", reason="planted")
    export = api.export_user(user_id="ana")
    memory_id = api.add_memory(user_id="ana", content=said).memory_id
    api.forget_memory(user_id="ana", memory_id=memory_id)
    remove_rows(api.connection, "ana")
    assert api.import_user(user_id="ana", export=export)["messages"] == 0
    assert "Utrecht" not in str(api.export_user(user_id="ana"))
