"""Calls the functions of a database with the Python package of an earlier version, which PYTHONPATH names.

``python old_calls.py DSN`` calls each method once and prints ``done``: see ``tests/upgrade/test_previous_client.py``.
"""

from __future__ import annotations

import sys
from typing import Any

import agent_memory
from agent_memory import Memory


def main(dsn: str) -> None:
    """Call, and look at each answer."""
    assert ".whl" in agent_memory.__file__, agent_memory.__file__
    with Memory(dsn) as memory:
        assert memory.version() > "0.1.0"
        talk(memory)
        remember(memory)
        keep(memory)
        administer(memory)
    print("done")


def talk(memory: Memory) -> None:
    """Conversations, contexts and summaries."""
    ana = ("ana", "t1")
    assert memory.add_message(*ana, "user", "I like tea", idempotency_key="k").seq == 0
    assert memory.add_message(*ana, "user", "I like tea", idempotency_key="k").seq == 0
    told = [{"role": role, "content": f"{role} {n}"} for n in range(6) for role in ("user", "assistant")]
    assert [row.seq for row in memory.add_messages(*ana, told)] == list(range(1, 13))
    assert [message.content for message in memory.get_messages(*ana, recent_k=1)] == ["assistant 5"]
    assert memory.get_context(*ana, query="tea", max_tokens=500)[-1].content == "assistant 5"
    [thread] = memory.list_threads("ana")
    assert (thread.thread_id, thread.message_count) == ("t1", 13)
    assert memory.get_thread_summary(*ana) is None
    assert memory.get_user_summary("ana") is None
    memory.add_message("ana", "t2", "user", "Hello")
    assert memory.clear_thread("ana", "t2") == 1
    assert memory.delete_thread("ana", "t2") == 1


def remember(memory: Memory) -> None:
    """Memories and their search."""
    tea = memory.add_memory("ana", "Likes tea", tags=["drinks"], importance=0.7).memory_id
    coffee = memory.add_memory("ana", "Likes coffee", metadata={"a": [1]}).memory_id
    assert memory.get_memory("ana", tea).tags == ["drinks"]
    assert memory.update_memory("ana", tea, content="Likes green tea") == 2
    assert [version.version for version in memory.get_memory_history("ana", tea)]
    memory.supersede_memory("ana", tea, coffee, "changed")
    assert [row.content for row in memory.list_memories("ana")] == ["Likes coffee"]
    assert memory.restore_memory("ana", tea) > 2
    assert "Likes green tea" in memory.render_memories("ana")
    assert [row.content for row in memory.search("ana", "green", mode="keyword", sources=["memory"])] == [
        "Likes green tea"
    ]
    assert memory.delete_memory("ana", coffee) is True


def keep(memory: Memory) -> None:
    """Documents and artifacts."""
    document = memory.add_document("ana", "Tea is green. " * 400, title="Tea")
    assert [row.document_id for row in memory.list_documents("ana")] == [document]
    assert memory.delete_document("ana", document) is True
    memory.add_document("ana", "Coffee is black. " * 400)
    assert memory.store_artifact("ana", "line one\nline two", key="log").key == "log"
    assert memory.retrieve_artifact("ana", "log") == "line one\nline two"
    assert [row.key for row in memory.list_artifacts("ana")] == ["log"]
    assert memory.delete_artifact("ana", "log") is True
    memory.store_artifact("ana", "line one\n" * 2000, key="log")


def administer(memory: Any) -> None:  # the calls of version 0.1, some of which are elsewhere by now
    """Settings, models, jobs."""
    assert memory.set_policy({"context": {"max_memories": 7}})["context"]["max_memories"] == 7
    assert memory.get_policy(user_id="ana")["context"]["max_memories"] == 7
    memory.register_model("spare", "chat", "openai", "gpt-4.1-mini", {"temperature": 0})
    memory.drop_model("spare")
    memory.reset_prompt("consolidate")
    assert {"messages", "jobs"} <= memory.sweep().keys()
    jobs = [memory.summarize_thread("ana", "t1"), memory.extract_memories("ana", "t1"), memory.summarize_user("ana")]
    jobs += [memory.reconcile_memories("ana"), memory.consolidate("ana"), memory.compress_thread("ana", "t1")]
    assert all(memory.get_job("ana", job).status == "pending" for job in jobs)
    [claimed] = memory.claim_jobs("old", kinds=["extract_memories"])
    memory.release_job("ana", claimed.job_id, claimed.lease_token)
    memory.retry_job("ana", claimed.job_id)
    assert all(check.ok for check in memory.doctor()), [check for check in memory.doctor() if not check.ok]


if __name__ == "__main__":
    main(sys.argv[1])
