"""What is stored before the page is looked at: Ana, whose texts try to be HTML, and her threads and memories."""

from __future__ import annotations

from tests.support.sqlapi import Api

ANA = "ana <script>alert('user')</script>"
"""A user whose id would run a script where it is not escaped."""
THREAD = "trip & <b>plans</b>"
EVIL = "<script>alert('stored')</script><img src=x onerror=alert('image')>"
LOG = "\n".join(f"line {number}: {EVIL if number == 7 else 'all is well'}" for number in range(2000))

KITCHEN = (
    ("user", "We are redoing the kitchen. I would like oak fronts and no handles."),
    ("assistant", "Oak without handles works well with push-to-open drawers."),
    ("user", "The room is 3.20 m by 4.10 m, with one window to the north."),
    ("assistant", "Then a light worktop would help. Shall I ask two carpenters for an offer?"),
    ("user", "Yes, please. The budget is 14,000 euros, all in."),
    ("assistant", "Noted. I will ask for offers within 14,000 euros."),
    ("tool", "[MemoryRef: offer-mueller - offer of the carpenter Mueller, 3 pages - 2140 tokens]"),
    ("assistant", "Mueller offers oak fronts for 13,200 euros, in six weeks."),
)
TODAY = (
    ("user", "Could the dishwasher go to the left of the sink?"),
    ("assistant", "Yes, the water pipe allows it; Mueller would need to know by Friday."),
    ("user", "Then tell him, and ask whether the budget still holds."),
)


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
    _store_maria(api)


def _store_maria(api: Api) -> None:
    """Store a person who redoes her kitchen, for the pictures."""
    api.store_artifact(user_id="maria", content="Offer\n" * 300, key="offer-mueller", description="offer")
    for messages in (KITCHEN, TODAY):
        api.add_messages(
            user_id="maria",
            thread_id="kitchen",
            messages=[{"role": role, "content": content} | _called(role) for role, content in messages],
        )
        if messages is KITCHEN:
            api.summarize_thread(user_id="maria", thread_id="kitchen", kind="rolling")
            api.finish_jobs(
                "Maria redoes her kitchen (3.20 m by 4.10 m) with oak fronts without handles, for 14,000 euros. "
                "The carpenter Mueller offers 13,200 euros."
            )
    for content, kind in (
        ("Maria prefers oak fronts without handles", "preference"),
        ("Maria's budget for the kitchen is 14,000 euros", "fact"),
        ("Maria's kitchen has one window, to the north", "fact"),
    ):
        api.add_memory(user_id="maria", content=content, memory_type=kind)


def _called(role: str) -> dict[str, str]:
    return {"tool_call_id": "call_1"} if role == "tool" else {}
