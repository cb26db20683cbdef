"""Rules of quarantine and of forgetting: what may be shown, what comes back, and what never does."""

from __future__ import annotations

from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.torture.model.base import agents, numbers, pick, picks, threads, users
from tests.torture.model.jobs import Job
from tests.torture.model.messages import Said
from tests.torture.model.rules_jobs import JobRules
from tests.torture.model.rules_memories import NOBODY
from tests.torture.model.values import TIMES, RefusedError, plain, words
from tests.torture.model.world import check


class TrustRules(JobRules):
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

    @rule(user_id=users, thread_id=threads, number=picks, is_whole=st.sampled_from([False, False, True]))
    def quarantine_said(self, user_id: str, thread_id: str, number: int, is_whole: bool) -> None:
        """A message or a whole thread, with the memories drawn from it and the summaries that cover it."""
        talk, memories = self.world.talks[user_id], self.world.memories[user_id]
        source, name, seqs = self.source(user_id, thread_id, number, is_whole)
        arguments = {"user_id": user_id, "source": source, "id": name}
        try:
            counts = self.world.call("quarantine_source", **arguments, reason="planted")
        except RefusedError as refused:
            check((refused.code, seqs), ("P0002", []), f"quarantine_source({arguments})")
            return
        gone = talk.quarantine(thread_id, seqs)
        self.learn_tokens(user_id, thread_id, gone)
        derived = memories.derived_from(thread_id, seqs)
        unheard = min((s for m in derived for s in m.source_seqs or [] if s not in seqs), default=None)
        memories.quarantine_all(derived, f"{source} {name}")
        articles = memories.quarantine_articles({m.memory_id for m in derived}, f"{source} {name}")
        dropped = talk.renew(thread_id, seqs[0]) + talk.profiles.renew(thread_id, seqs[0], talk.threads)
        if unheard is not None:
            talk.threads[thread_id].read_to = min(talk.threads[thread_id].read_to, unheard - 1)
            if talk.request(thread_id, None) is None:
                self.follow(talk, Job(0, thread_id, None))
                self.learn_ids()
        check(
            counts,
            {
                "messages": len(gone),
                "memories": len(derived),
                "documents": articles,
                "artifacts": 0,
                "summaries": dropped,
            },
            f"quarantine_source({arguments})",
        )
        self.touched = user_id

    @rule(user_id=users, thread_id=threads, number=picks, is_whole=st.sampled_from([False, False, True]))
    def release_said(self, user_id: str, thread_id: str, number: int, is_whole: bool) -> None:
        talk, memories = self.world.talks[user_id], self.world.memories[user_id]
        source, name, seqs = self.source(user_id, thread_id, number, is_whole, is_back=True)
        arguments = {"user_id": user_id, "source": source, "id": name}
        try:
            counts = self.world.call("release_source", **arguments)
        except RefusedError as refused:
            check((refused.code, seqs), ("P0002", []), f"release_source({arguments})")
            return
        back = talk.release(thread_id, seqs)
        self.learn_tokens(user_id, thread_id, back)
        poisoned = {
            name: {m.seq for m in thread.messages.values() if m.quarantined is not None}
            for name, thread in talk.threads.items()
        }
        released = memories.release_derived(f"{source} {name}", poisoned)
        articles = memories.release_articles(f"{source} {name}")
        dropped = 0
        if back:
            dropped = talk.renew(thread_id, seqs[0]) + talk.profiles.renew(thread_id, seqs[0], talk.threads)
        check(
            counts,
            {"messages": len(back), "memories": released, "documents": articles, "artifacts": 0, "summaries": dropped},
            f"release_source({arguments})",
        )
        self.touched = user_id

    def source(
        self, user_id: str, thread_id: str, number: int, is_whole: bool, is_back: bool = False
    ) -> tuple[str, str, list[int]]:
        """What to name: a thread, or one of its messages, mostly one in quarantine if it is to come back."""
        thread = self.world.talks[user_id].threads.get(thread_id)
        messages = list(thread.messages.values()) if thread else []
        if is_whole:
            return "thread", thread_id, [m.seq for m in messages]
        found = pick([m for m in messages if is_back and m.quarantined is not None] or messages, number)
        return "message", f"{thread_id}/{found.seq if found else number}", [found.seq] if found else []

    def learn_tokens(self, user_id: str, thread_id: str, changed: list[Said]) -> None:
        """Texts that changed are counted anew; what they count then is the database's."""
        rows = self.world.session(user_id).get_messages(user_id=user_id, thread_id=thread_id, include_inactive=True)
        counted = {row.seq: row.token_count for row in rows}
        for message in changed:
            message.token_count = counted[message.seq]

    @rule(user_id=users, number=picks, is_back=st.booleans())
    def quarantine_document(self, user_id: str, number: int, is_back: bool) -> None:
        memories = self.world.memories[user_id]
        document_id = pick(list(memories.documents), number)
        if document_id is None:
            return
        function = "release_source" if is_back else "quarantine_source"
        reason = {} if is_back else {"reason": "planted"}
        counts = self.world.call(function, user_id=user_id, source="document", id=str(document_id), **reason)
        changes = memories.release_document(document_id) if is_back else memories.quarantine_document(document_id, None)
        check(counts["documents"], changes, f"{function}({document_id})")
        self.touched = user_id

    @rule(user_id=users, number=picks)
    def forget_memory(self, user_id: str, number: int) -> None:
        """With the memory go all that say the same, the messages and artifacts that state it, and jobs that name it."""
        memories, talk, stores = self.world.memories[user_id], self.world.talks[user_id], self.world.stores[user_id]
        row = pick(list(memories.rows.values()), number)
        if row is None:
            return
        for job in talk.jobs.values():  # a finished job also names the memories that it was told about
            job.stored |= self.known_to(user_id, job.job_id)
        self.world.call("forget_memory", user_id=user_id, memory_id=row.memory_id)
        gone, statements = memories.forget(row.memory_id)
        memories.forgotten |= talk.forget(gone, statements)
        stores.forget(statements)
        self.touched = user_id
        self.compare_forgotten(user_id)

    def known_to(self, user_id: str, job_id: int) -> set[UUID]:
        found = self.world.api.query(
            """select k::uuid as memory_id from memory.jobs as j
               cross join lateral jsonb_array_elements_text(j.input -> 'known') as k
               where j.user_id = %(user_id)s and j.job_id = %(job_id)s""",
            user_id=user_id,
            job_id=job_id,
        )
        return {row.memory_id for row in found}

    def compare_forgotten(self, user_id: str) -> None:
        told = [self.text(user_id, number) for number in range(6)]
        said = [{"content": text, "created_at": TIMES["future"]} for text in told]
        answer = self.world.call("was_forgotten", user_id=user_id, messages=said)
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
            {(q.source, q.id, q.quarantined_with) for q in found},
            {
                *(("memory", str(m.memory_id), m.quarantined_with) for m in memories.quarantined() if not m.is_expired),
                *(
                    ("message", f"{thread_id}/{m.seq}", None)
                    for thread_id, thread in self.world.talks[user_id].threads.items()
                    for m in thread.messages.values()
                    if m.quarantined is not None and m.is_readable
                ),
                *(
                    ("document", str(i), document.quarantined_with)
                    for i, document in memories.documents.items()
                    if document.quarantined_at is not None
                ),
            },
            f"list_quarantined({user_id})",
        )
