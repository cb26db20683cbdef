"""Rules of quarantine and of forgetting: what may be shown, what comes back, and what never does."""

from __future__ import annotations

import re

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.torture.model.base import Rules, agents, numbers, pick, picks, users
from tests.torture.model.rules_memories import NOBODY
from tests.torture.model.values import plain
from tests.torture.model.world import check

WORD = re.compile(r"word(\d)", re.IGNORECASE)


class TrustRules(Rules):
    """Quarantine of memories, and forgetting."""

    @rule(user_id=users, number=picks)
    def quarantine_memory(self, user_id: str, number: int) -> None:
        memories = self.world.memories[user_id]
        row = pick(memories.shown(include_superseded=True, include_quarantined=number % 5 == 4), number // 5)
        memory_id = row.memory_id if row else NOBODY
        self.world.both(
            lambda: memories.quarantine(memory_id), "quarantine_memory", user_id=user_id, memory_id=memory_id,
            reason="planted",
        )  # fmt: skip
        self.touched = user_id

    @rule(user_id=users, number=picks)
    def release_memory(self, user_id: str, number: int) -> None:
        memories = self.world.memories[user_id]
        rows = list(memories.rows.values()) if number % 8 == 7 else memories.quarantined()
        row = pick(rows, number // 8)
        memory_id = row.memory_id if row else NOBODY

        def expected() -> str:
            with memories.all_or_nothing():
                return memories.release(memory_id)

        self.world.both(expected, "release_memory", user_id=user_id, memory_id=memory_id)
        self.touched = user_id

    @rule(user_id=users, number=picks, is_sure=st.sampled_from([False, False, True]))
    def forget_memory(self, user_id: str, number: int, is_sure: bool) -> None:
        """With the memory go all that say the same, the messages and artifacts that state it, and jobs that name it."""
        memories, talk, stores = self.world.memories[user_id], self.world.talks[user_id], self.world.stores[user_id]
        row = pick(list(memories.rows.values()), number)
        if row is None or not is_sure:
            return
        self.world.call("forget_memory", user_id=user_id, memory_id=row.memory_id)
        gone, statements = memories.forget(row.memory_id)
        talk.forget(gone, statements)
        stores.forget(statements)
        self.touched = user_id
        self.compare_forgotten(user_id)

    def compare_forgotten(self, user_id: str) -> None:
        told = [self.text(user_id, number) for number in range(6)]
        answer = self.world.call("was_forgotten", user_id=user_id, messages=[{"content": text} for text in told])
        forgotten = self.world.memories[user_id].forgotten
        check(answer, [plain(text) in forgotten for text in told], f"was_forgotten({user_id})")

    @rule(user_id=users, agent_id=st.none() | agents, number=st.none() | numbers)
    def render_memories(self, user_id: str, agent_id: str | None, number: int | None) -> None:
        """A prompt has each memory that is shown, and no other."""
        block = self.world.call(
            "render_memories", user_id=user_id, agent_id=agent_id, max_memories=1000,
            query=None if number is None else f"word{number}",
        )  # fmt: skip
        shown = [m for m in self.world.memories[user_id].shown() if agent_id in (None, m.agent_id)]
        check(words(block), words(*(m.content for m in shown)), f"render_memories({user_id}, {agent_id}, {number})")

    def compare_trust(self, user_id: str) -> None:
        api, memories = self.world.session(user_id), self.world.memories[user_id]
        found = api.list_quarantined(user_id=user_id, row_limit=1000)
        check(
            {(q.id, q.quarantined_with) for q in found if q.source == "memory"},
            {(str(m.memory_id), m.quarantined_with) for m in memories.quarantined() if not m.is_expired},
            f"list_quarantined({user_id})",
        )


def words(*texts: str) -> set[str]:
    """The numbered words of texts."""
    return set(WORD.findall(" ".join(texts)))
