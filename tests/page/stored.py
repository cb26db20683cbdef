"""What is stored before the page is looked at: Ana, whose texts try to be HTML, and her threads and memories."""

from __future__ import annotations

from tests.support.sqlapi import Api

ANA = "ana <script>alert('user')</script>"
"""A user whose id would run a script where it is not escaped."""
THREAD = "trip & <b>plans</b>"
EVIL = "<script>alert('stored')</script><img src=x onerror=alert('image')>"
LOG = "\n".join(f"line {number}: {EVIL if number == 7 else 'all is well'}" for number in range(2000))


def store(api: Api) -> None:
    """Store everything; the queue is empty afterwards."""
    api.store_artifact(user_id=ANA, content=LOG, key="build-log", description="the log of the build")
    api.talk(ANA, THREAD, 40)
    api.add_message(
        user_id=ANA,
        thread_id=THREAD,
        role="tool",
        content="Built: [MemoryRef: build-log - the log of the build - 9000 tokens] and that was it.",
        metadata={"tool_call_id": EVIL},
    )
    api.add_message(user_id=ANA, thread_id=THREAD, role="user", content=f"Do you see {EVIL} as text?")
    api.compress_thread(user_id=ANA, thread_id=THREAD)
    api.finish_jobs(f"They asked and answered. {EVIL}")
    api.talk(ANA, THREAD, 3)
    api.summarize_thread(user_id=ANA, thread_id=THREAD, kind="rolling")
    api.summarize_user(user_id=ANA)
    api.finish_jobs(f"What Ana said. {EVIL}")
    tea = api.add_memory(user_id=ANA, content=f"Ana drinks tea, and writes {EVIL}", valid_from="2020-01-01")
    coffee = api.add_memory(user_id=ANA, content="Ana drinks coffee", memory_type="preference", tags=[EVIL])
    api.supersede_memory(
        user_id=ANA, old_memory_id=tea.memory_id, new_memory_id=coffee.memory_id, reason=f"contradict {EVIL}"
    )
    api.add_memory(user_id=ANA, content=f"Ana's word is {EVIL}", metadata={"said": EVIL})
    for number in range(60):
        api.add_message(user_id=f"user {number:02}", thread_id="t", role="user", content="hello")
    api.finish_jobs()
