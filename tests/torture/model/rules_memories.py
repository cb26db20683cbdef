"""Rules of memories: duplicates, versions, superseding, restoring, limits, listing, search."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid5

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.torture.model.base import Rules, agents, expiries, numbers, pick, picks, threads, users
from tests.torture.model.remembered import FOR_EVER, Remembered
from tests.torture.model.values import TIMES, RefusedError, moment
from tests.torture.model.world import CLIENTS, MARKERS, USERS, Difference, check

NAMESPACE = UUID(int=17)
NOBODY = UUID(int=4711)
PARTS = ("source_messages", "memories")
"""Where the details of a result name the texts that it stands for."""
types = st.sampled_from(["fact", "preference", "context"])
shares = st.sampled_from([0.25, 0.5, 0.75])
tag_lists = st.sampled_from([[], ["a"], ["a", "b"], ["ä b"]])


class MemoryRules(Rules):
    """Long-term memories, and search among them."""

    @rule(
        user_id=users, number=numbers, memory_type=types, agent_id=agents, thread_id=st.none() | threads,
        tags=tag_lists, importance=shares, source=st.sampled_from(["user", "user", "extraction"]),
        on_conflict=st.sampled_from(["ignore", "ignore", "replace", "error"]), expires=expiries,
        is_over=st.sampled_from([False] * 7 + [True]), is_loud=st.booleans(),
    )  # fmt: skip
    def add_memory(
        self, user_id: str, number: int, memory_type: str, agent_id: str, thread_id: Any, tags: list[str],
        importance: float, source: str, on_conflict: str, expires: Any, is_over: bool, is_loud: bool,
    ) -> None:  # fmt: skip
        memories = self.world.memories[user_id]
        content = self.text(user_id, number)
        content = f" {content.upper()}" if is_loud else content
        values = {
            "content": content, "memory_type": memory_type, "agent_id": agent_id, "thread_id": thread_id,
            "metadata": {"n": number}, "tags": tags, "importance": importance, "source": source,
        }  # fmt: skip
        expires_at = moment(expires, self.world.clock.now)
        memory_id = uuid5(NAMESPACE, f"{user_id} {self.world.clock.now}")

        def expected() -> tuple[UUID | None, bool]:
            with memories.all_or_nothing():
                return memories.add(
                    memory_id, on_conflict, confidence=1.0, expires=expires_at, is_over=is_over, **values
                )

        self.world.both(
            expected, "add_memory", user_id=user_id, on_conflict=on_conflict, memory_id=memory_id,
            expires_at=expires_at, valid_to=TIMES["past" if is_over else None], **values,
        )  # fmt: skip
        self.touched = user_id

    @rule(user_id=users, number=numbers)
    def many_clients_add_the_same(self, user_id: str, number: int) -> None:
        memories, content = self.world.memories[user_id], self.text(user_id, number)
        answers = self.at_once(lambda api: api.add_memory(user_id=user_id, content=content))
        ids = {answer.memory_id for answer in answers}
        is_new = any(answer.memory_id not in memories.rows for answer in answers)
        if len(ids) > 1 or sum(answer.inserted for answer in answers) > 1:
            raise Difference(f"several clients stored {content}: {answers}")
        with memories.all_or_nothing():
            for _ in range(CLIENTS if not is_new else 1):
                memories.add(
                    ids.copy().pop(), "ignore", content=content, memory_type="fact", agent_id="default",
                    thread_id=None, metadata={}, tags=[], confidence=1.0, importance=0.5, source="user", expires=None,
                    is_over=False,
                )  # fmt: skip
        self.touched = user_id

    @rule(
        user_id=users, number=picks, content=st.none() | numbers, tags=st.none() | tag_lists,
        importance=st.none() | shares, expires=expiries, offset=st.sampled_from([None, None, 0, 0, 1]),
    )  # fmt: skip
    def update_memory(
        self, user_id: str, number: int, content: Any, tags: Any, importance: Any, expires: Any, offset: Any
    ) -> None:
        memories, row = self.world.memories[user_id], self.any_memory(user_id, number)
        memory_id = row.memory_id if row else NOBODY
        changes = {
            "content": None if content is None else self.text(user_id, content),
            "tags": tags, "importance": importance,
        }  # fmt: skip
        version = None if offset is None or row is None else row.version + offset
        expires_at = moment(expires, self.world.clock.now)

        def expected() -> int:
            with memories.all_or_nothing():
                return memories.update(memory_id, version, expires=expires_at, **changes)

        self.world.both(
            expected, "update_memory", user_id=user_id, memory_id=memory_id, expires_at=expires_at,
            expected_version=version, **changes,
        )  # fmt: skip
        self.touched = user_id

    @rule(user_id=users, number=picks)
    def many_clients_update(self, user_id: str, number: int) -> None:
        """One of the clients that saw the same version wins, the others are told."""
        memories = self.world.memories[user_id]
        row = pick([m for m in memories.rows.values() if m.deleted_at is None and not m.is_expired], number)
        if row is None:
            return
        arguments = {"user_id": user_id, "memory_id": row.memory_id, "expected_version": row.version}
        answers = self.at_once(lambda api: api.update_memory(**arguments, metadata={"n": "burst"}))
        with memories.all_or_nothing():
            version = memories.update(row.memory_id, None, metadata={"n": "burst"})
        check(sorted(map(str, answers)), sorted([str(version), *["40001"] * (CLIENTS - 1)]), "updates at once")
        self.touched = user_id

    @rule(user_id=users, number=picks, others=st.sampled_from([False] * 5 + [True]))
    def delete_memory(self, user_id: str, number: int, others: bool) -> None:
        owner = USERS[(USERS.index(user_id) + others) % len(USERS)]
        row = self.any_memory(owner, number)
        memory_id, memories = row.memory_id if row else NOBODY, self.world.memories[user_id]
        self.world.both(lambda: memories.delete(memory_id), "delete_memory", user_id=user_id, memory_id=memory_id)
        self.touched = owner

    @rule(user_id=users, a=picks, distance=st.sampled_from([1, 1, 2, 3, 0]))
    def supersede_memory(self, user_id: str, a: int, distance: int) -> None:
        memories = self.world.memories[user_id]
        rows = [m for m in memories.rows.values() if m.is_current] or list(memories.rows.values())
        old, new = (row.memory_id if row else NOBODY for row in (pick(rows, a), pick(rows, a + distance)))
        self.world.both(
            lambda: memories.supersede(old, new), "supersede_memory", user_id=user_id, old_memory_id=old,
            new_memory_id=new, reason="newer",
        )  # fmt: skip
        self.touched = user_id

    @rule(user_id=users, number=picks, version=st.sampled_from([None, None, None, 1, 2, 9]))
    def restore_memory(self, user_id: str, number: int, version: Any) -> None:
        memories = self.world.memories[user_id]
        rows = [m for m in memories.rows.values() if not m.is_current]
        row = pick(rows, number) or self.any_memory(user_id, number)
        memory_id = row.memory_id if row else NOBODY

        def expected() -> int:
            with memories.all_or_nothing():
                return memories.restore(memory_id, version)

        self.world.both(expected, "restore_memory", user_id=user_id, memory_id=memory_id, version=version)
        self.touched = user_id

    @rule(
        limit=st.sampled_from([None, 2, 3, 5, 1000]), eviction=st.sampled_from([None, "importance", "fifo"]),
        agent_id=st.none() | agents, user_id=st.none() | users,
    )  # fmt: skip
    def set_policy(self, limit: Any, eviction: Any, agent_id: Any, user_id: Any) -> None:
        settings = {"max_per_agent": limit, "eviction": eviction}
        self.world.call("set_policy", settings={"memories": settings}, agent_id=agent_id, user_id=user_id)
        self.world.policies.set(settings, agent_id, user_id)
        for agent in (None, "default", "planner"):
            for user in (None, *USERS):
                found = self.world.call("get_policy", agent_id=agent, user_id=user)["memories"]
                check(
                    {name: found[name] for name in settings},
                    self.world.policies.get(agent, user),
                    f"get_policy({agent}, {user})",
                )

    @rule(
        language=st.sampled_from(["english", "german", "russian", "simple", None]), agent_id=st.none() | agents,
        user_id=st.none() | users,
    )  # fmt: skip
    def set_language(self, language: str | None, agent_id: Any, user_id: Any) -> None:
        """Search finds the same before and after all texts are parsed anew."""
        self.world.call("set_policy", settings={"search": {"language": language}}, agent_id=agent_id, user_id=user_id)
        self.world.policies.set({}, agent_id, user_id)
        for name in USERS:
            self.search(user_id=name, number=None, mode="keyword", agent_id=agent_id)

    @rule(
        user_id=users, agent_id=st.none() | agents, memory_type=st.none() | types, search=st.none() | numbers,
        tags=st.none() | tag_lists, thread_id=st.none() | threads, number=st.none() | numbers,
        include_superseded=st.booleans(), include_quarantined=st.booleans(), row_limit=st.integers(1, 9),
        row_offset=st.integers(0, 4),
    )  # fmt: skip
    def list_memories(
        self, user_id: str, agent_id: Any, memory_type: Any, search: Any, tags: Any, thread_id: Any, number: Any,
        include_superseded: bool, include_quarantined: bool, row_limit: int, row_offset: int,
    ) -> None:  # fmt: skip
        found = [
            m.memory_id
            for m in self.world.memories[user_id].shown(include_superseded, include_quarantined)
            if agent_id in (None, m.agent_id)
            and memory_type in (None, m.memory_type)
            and (search is None or f"word{search} " in m.content.lower())
            and set(tags or []) <= set(m.tags)
            and thread_id in (None, m.thread_id)
            and number in (None, m.metadata.get("n"))
        ]
        filters = {
            "user_id": user_id, "agent_id": agent_id, "memory_type": memory_type, "tags_all": tags,
            "search": None if search is None else f"WORD{search} ", "thread_id": thread_id,
            "filter": None if number is None else {"n": number}, "include_superseded": include_superseded,
            "include_quarantined": include_quarantined,
        }  # fmt: skip
        page = self.world.call("list_memories", **filters, row_limit=row_limit, row_offset=row_offset)
        check([m.memory_id for m in page], found[row_offset : row_offset + row_limit], f"list_memories({filters})")
        check({m.total_count for m in page}, {len(found)} if page else set(), f"total_count of {filters}")
        check(self.world.call("count_memories", **filters), len(found), f"count_memories({filters})")

    @rule(
        user_id=users, number=st.none() | numbers, mode=st.sampled_from(["keyword", "hybrid"]),
        agent_id=st.none() | agents,
    )  # fmt: skip
    def search(self, user_id: str, number: int | None, mode: str, agent_id: Any) -> None:
        """Search finds each visible text with the word, and none of anyone else.

        Without a number the word is one that languages cut down to different stems.
        """
        word = "note" if number is None else f"word{number}"
        rows = self.world.call(
            "search", user_id=user_id, query=word, mode=mode, agent_id=agent_id, top_k=1000,
            sources=["memory", "message", "document"],
        )  # fmt: skip
        what = f"search({user_id}, {word}, {mode}, {agent_id})"
        for other in USERS:
            if other != user_id and MARKERS[other] in str(rows):
                raise Difference(f"{what}: found what is {other}'s")
        found = {(row.source, plainly(row.content)) for row in rows}
        memories = [m for m in self.world.memories[user_id].shown() if agent_id in (None, m.agent_id)]
        said = [
            m
            for thread in self.world.talks[user_id].threads.values()
            for m in thread.messages.values()
            if m.is_readable
            if agent_id in (None, m.agent_id)
        ]
        documents = self.world.stores[user_id].shown().values()  # which belong to no agent
        texts = [("memory", memories), ("message", said), ("document", documents)]
        expected = {(source, plainly(row.content)) for source, rows in texts for row in rows}  # type: ignore[attr-defined]
        # A memory and a message that say the same, or of which one was drawn from the other, are one result.
        parts = [part for row in rows for name in PARTS for part in row.details.get(name, [])]
        shown = {(source == "document", content) for source, content in found}
        shown |= {(False, plainly(part["content"])) for part in parts}
        missing = {i for i in expected if f"{word} " in i[1] and (i[0] == "document", i[1]) not in shown}
        if missing or found - expected:
            raise Difference(f"{what}: not found {missing}, found but gone {found - expected}")

    @rule(user_id=users, number=picks)
    def get_memory(self, user_id: str, number: int) -> None:
        row = self.any_memory(user_id, number)
        memory_id = row.memory_id if row else NOBODY
        is_there = row is not None and not row.is_expired and row.deleted_at in (None, FOR_EVER)
        try:
            answer = self.world.call("get_memory", user_id=user_id, memory_id=memory_id)
        except RefusedError as refused:
            check((refused.code, is_there), ("P0002", False), f"get_memory({memory_id})")
        else:
            check((row and row.content, is_there), (answer.content, True), f"get_memory({memory_id})")

    def any_memory(self, user_id: str, number: int) -> Remembered | None:
        """Mostly one that is shown."""
        memories = self.world.memories[user_id]
        rows = list(memories.rows.values()) if number % 4 == 3 else memories.shown(include_superseded=True)
        found: Remembered | None = pick(rows, number // 4)
        return found

    def compare_memories(self, user_id: str) -> None:
        memories, api = self.world.memories[user_id], self.world.session(user_id)
        rows = api.list_memories(user_id=user_id, include_superseded=True, include_quarantined=True, row_limit=1000)
        check(
            [
                (m.memory_id, m.content, m.agent_id, m.memory_type, m.metadata, m.tags, m.importance, m.source,
                 m.thread_id, m.version, m.superseded_by, m.supersede_reason, m.source_seqs, m.quarantined_at is None)
                for m in rows
            ],
            [
                (m.memory_id, m.content, m.agent_id, m.memory_type, m.metadata, m.tags, m.importance, m.source,
                 m.thread_id, m.version, m.superseded_by, m.supersede_reason, m.source_seqs, m.quarantined_at is None)
                for m in memories.shown(include_superseded=True, include_quarantined=True)
            ],
            f"list_memories({user_id})",
        )  # fmt: skip
        for row in list(memories.rows.values())[-3:]:
            if not row.is_expired:
                history = api.get_memory_history(user_id=user_id, memory_id=row.memory_id)
                check(
                    [(v.version, v.operation, v.content) for v in history],
                    [
                        *((v.version, v.operation, v.content) for v in row.history),
                        (row.version, row.operation, row.content),
                    ],
                    f"get_memory_history({row.memory_id})",
                )


def plainly(content: str) -> str:
    """Two spellings of one content count as found when one is."""
    return " ".join(content.lower().split())
