"""Rules of conversations: numbering, idempotency keys, clearing, deleting, contexts."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.torture.model.base import agents, expiries, keys, numbers, picks, threads, users
from tests.torture.model.jobs import Job
from tests.torture.model.messages import ROLES, Thread
from tests.torture.model.rules_jobs import JobRules
from tests.torture.model.values import TIMES, words
from tests.torture.model.world import CLIENTS, MARKERS, USERS, Difference, check

roles = st.sampled_from([*ROLES, "user", "assistant", "agent", "nobody"])
maybe = st.none() | st.integers(1, 6)


class MessageRules(JobRules):
    """Messages, threads and contexts."""

    @rule(
        user_id=users, thread_id=threads, role=roles, number=numbers, agent_id=agents, expires=expiries,
        key=st.none() | keys, empty=st.sampled_from([False] * 9 + [True]),
    )  # fmt: skip
    def add_message(
        self, user_id: str, thread_id: str, role: str, number: int, agent_id: str, expires: Any, key: Any, empty: bool
    ) -> None:
        talk = self.world.talks[user_id]
        content = "" if empty else self.text(user_id, number)
        arguments = {"user_id": user_id, "thread_id": thread_id, "role": role, "content": content}
        options = {"agent_id": agent_id, "metadata": {"n": number}, "expires_at": TIMES[expires]}
        with self.world.same_refusal(
            lambda: talk.check(thread_id, role, content, key), f"add_message({arguments}, {key})"
        ) as stored:
            answer = self.world.call("add_message", **arguments, **options, idempotency_key=key)
            if stored and stored[0] is not None:
                check((answer.seq, answer.content), stored[0], "repeated message")
            elif stored:
                said = talk.append(
                    thread_id, role=role, content=content, agent_id=agent_id, metadata={"n": number},
                    token_count=answer.token_count, expires=expires, idempotency_key=key,
                )  # fmt: skip
                check((answer.seq, answer.content), (said.seq, content), "new message")
        self.touched = user_id

    @rule(
        user_id=users, thread_id=threads, agent_id=agents,
        parts=st.lists(st.tuples(st.sampled_from(ROLES), numbers, st.none() | keys), max_size=5),
    )  # fmt: skip
    def add_messages(self, user_id: str, thread_id: str, agent_id: str, parts: list[tuple[str, int, Any]]) -> None:
        talk = self.world.talks[user_id]
        thread = talk.threads.get(thread_id)
        batch: list[dict[str, Any]] = []
        told: list[tuple[str, int, Any, Any]] = []
        for role, number, key in parts:
            content = self.text(user_id, number)
            same = [t for t in told if t[2] is not None and t[2] == key]
            stored = thread.stored_under(key) if thread else None
            if (stored and stored[1:] not in ((role, content), (None, None))) or any(
                t[:2] != (role, number) for t in same
            ):
                continue  # a key that is used for another message refuses the batch; add_message tries that
            told.append((role, number, key, stored or (same[0] if same else None)))
            batch.append({"role": role, "content": content, **({"idempotency_key": key} if key else {})})
        if not batch:
            return
        answers = self.world.call(
            "add_messages", user_id=user_id, thread_id=thread_id, messages=batch, agent_id=agent_id
        )
        seqs: dict[Any, int] = {}
        for (role, number, key, known), answer in zip(told, answers, strict=True):
            if known is not None:
                stored = thread.stored_under(key) if thread else None
                expected = stored[0] if stored else seqs[key]
            else:
                expected = talk.append(
                    thread_id, role=role, content=self.text(user_id, number), agent_id=agent_id, metadata={},
                    token_count=answer.token_count, expires=None, idempotency_key=key,
                ).seq  # fmt: skip
                seqs[key] = expected
            check(answer.seq, expected, f"add_messages({batch})")
        self.touched = user_id

    @rule(user_id=users, thread_id=threads, number=numbers, has_key=st.booleans())
    def many_clients_add(self, user_id: str, thread_id: str, number: int, has_key: bool) -> None:
        """The same key stores once; without a key each call stores, and seqs have no gap."""
        talk, content = self.world.talks[user_id], self.text(user_id, number)
        key = f"burst {self.world.clock.now}" if has_key else None
        arguments = {"user_id": user_id, "thread_id": thread_id, "role": "user", "content": content}
        answers = self.at_once(lambda api: api.add_message(**arguments, idempotency_key=key))
        for _ in range(1 if has_key else CLIENTS):
            talk.append(
                thread_id, role="user", content=content, agent_id="default", metadata={},
                token_count=answers[0].token_count, expires=None, idempotency_key=key,
            )  # fmt: skip
        last = talk.threads[thread_id].next_seq
        expected = [last - 1] * CLIENTS if has_key else list(range(last - CLIENTS, last))
        check(sorted(answer.seq for answer in answers), expected, "seqs of clients at once")
        self.touched = user_id

    @rule(user_id=users, thread_id=threads, number=numbers)
    def add_in_a_transaction_that_fails(self, user_id: str, thread_id: str, number: int) -> None:
        api = self.world.api
        with api.connection.transaction(force_rollback=True):
            api.add_message(user_id=user_id, thread_id=thread_id, role="user", content=self.text(user_id, number))
            api.add_memory(user_id=user_id, content=self.text(user_id, number), thread_id=thread_id)
            api.clear_thread(user_id=user_id, thread_id=thread_id)
        self.touched = user_id

    @rule(user_id=users, thread_id=threads, number=picks)
    def delete_message(self, user_id: str, thread_id: str, number: int) -> None:
        talk = self.world.talks[user_id]
        thread = talk.threads.get(thread_id)
        said = thread.current() if thread else []
        seq = said[number % len(said)].seq if said and number % 3 else number % 12
        self.world.both(
            lambda: talk.delete_message(thread_id, seq), "delete_message", user_id=user_id, thread_id=thread_id, seq=seq
        )
        self.touched = user_id

    @rule(user_id=users, thread_id=threads, agent_id=st.none() | agents)
    def clear_thread(self, user_id: str, thread_id: str, agent_id: str | None) -> None:
        talk = self.world.talks[user_id]
        self.world.both(
            lambda: talk.clear(thread_id, agent_id), "clear_thread", user_id=user_id, thread_id=thread_id,
            agent_id=agent_id,
        )  # fmt: skip
        self.touched = user_id

    @rule(user_id=users, thread_id=threads)
    def delete_thread(self, user_id: str, thread_id: str) -> None:
        self.world.clock.tick()
        answer = self.world.call("delete_thread", user_id=user_id, thread_id=thread_id)
        if thread_id in self.world.talks[user_id].threads:
            self.world.memories[user_id].delete_extracted_from(thread_id)
        self.world.stores[user_id].delete_thread(thread_id)
        check(answer, self.world.talks[user_id].delete(thread_id), "delete_thread")
        self.touched = user_id

    @rule(
        user_id=users, thread_id=threads, says=st.booleans(), first=picks, count=st.integers(1, 4),
        is_swept=st.booleans(),
    )  # fmt: skip
    def expire_unread(self, user_id: str, thread_id: str, says: bool, first: int, count: int, is_swept: bool) -> None:
        """Messages have expired that were to live for days, mostly unread ones; no call makes them older."""
        talk, api = self.world.talks[user_id], self.world.api
        if says:
            self.say(user_id, thread_id)
        thread = talk.threads.get(thread_id)
        alive = [m.seq for m in thread.messages.values() if m.is_alive] if thread else []
        alive = [seq for seq in alive if thread and seq > thread.read_to] or alive
        seqs = alive[first % max(1, len(alive)) :][:count]
        names = {"user_id": user_id, "thread_id": thread_id, "seqs": seqs}
        with api.connection.transaction():
            api.connection.execute(
                "update memory.messages set created_at = created_at - interval '3 days',"
                " expires_at = statement_timestamp() - interval '1 hour'"
                " where user_id = %(user_id)s and thread_id = %(thread_id)s and seq = any (%(seqs)s)",
                names,
            )
            api.connection.execute(
                "update memory.threads set first_at = first_at - interval '3 days'"
                " where user_id = %(user_id)s and thread_id = %(thread_id)s",
                names,
            )
        if seqs:
            talk.expire(thread_id, seqs)
        if is_swept:
            self.sweep()
        self.touched = user_id

    @rule()
    def sweep(self) -> None:
        """What extraction has not read is queued for it and stays."""
        self.learn_ids()
        self.world.call("sweep")
        for user_id in USERS:
            talk = self.world.talks[user_id]
            for thread_id in talk.sweep():
                self.follow(talk, Job(0, thread_id, None))
            self.learn_ids()
            self.world.memories[user_id].sweep()
            self.world.stores[user_id].sweep()
            self.compare_messages(user_id)
        self.touched = USERS[0]

    @rule(
        user_id=users, thread_id=threads, recent_k=maybe, after_seq=maybe, before_seq=maybe,
        agent_id=st.none() | agents, role=st.none() | st.sampled_from([*ROLES, "agent"]), number=st.none() | numbers,
    )  # fmt: skip
    def get_messages(
        self, user_id: str, thread_id: str, recent_k: Any, after_seq: Any, before_seq: Any, agent_id: Any, role: Any,
        number: Any,
    ) -> None:  # fmt: skip
        thread = self.world.talks[user_id].threads.get(thread_id)
        found = [
            m.seq
            for m in (thread.current() if thread else [])
            if (after_seq is None or m.seq > after_seq)
            and (before_seq is None or m.seq < before_seq)
            and agent_id in (None, m.agent_id)
            and (role is None or m.role == ("assistant" if role == "agent" else role))
            and number in (None, m.metadata.get("n"))
        ]
        answer = self.world.call(
            "get_messages", user_id=user_id, thread_id=thread_id, recent_k=recent_k, after_seq=after_seq,
            before_seq=before_seq, agent_id=agent_id, roles=None if role is None else [role],
            filter=None if number is None else {"n": number},
        )  # fmt: skip
        check([m.seq for m in answer], found[-recent_k:] if recent_k else found, "get_messages")

    @rule(user_id=users, thread_id=threads, number=numbers, max_tokens=st.sampled_from([20, 60, 300, 4000]))
    def get_context(self, user_id: str, thread_id: str, number: int, max_tokens: int) -> None:
        """Fits whenever the newest unit of messages does, ends with that message, and has nothing of anyone else.

        While the newest message is a tool's result, it also has the user's request.
        """
        thread = self.world.talks[user_id].threads.get(thread_id)
        current = thread.current() if thread else []
        parts = self.world.call(
            "get_context", user_id=user_id, thread_id=thread_id, query=f"word{number}", max_tokens=max_tokens
        )
        what = f"get_context({user_id}, {thread_id}, {max_tokens}) is {parts}"
        self.look_for_strangers(user_id, parts, what)
        if [part.ordinal for part in parts] != list(
            range(parts[0].ordinal, parts[0].ordinal + len(parts)) if parts else []
        ):
            raise Difference(f"{what}: ordinals have gaps")
        if not current:
            return
        opening = thread.opening() if thread else []
        others = [m for m in current if m not in opening]
        # A tool's results are one unit with the message before them, which called the tools.
        speakers = [place for place, m in enumerate(others) if m.role != "tool"]
        newest = len(others) - (speakers[-1] if speakers else 0)
        readable = [m for m in thread.messages.values() if m.is_readable] if thread and others else []
        requests = [m.content for m in readable if m.role == "user"] if readable and readable[-1].role == "tool" else []
        newest += bool(requests)
        if len(parts) > newest and sum(part.token_count for part in parts) > max_tokens:
            raise Difference(f"{what}: does not fit")
        self.look_for_the_hidden(user_id, thread, parts, max_tokens, what)
        said = [part for part in parts if part.source == "message"]
        found = [part.content for part in said]
        first = [m.content for m in opening]
        if first and found[: len(first)] == first and len(found) >= len(first) + bool(others):
            found = found[len(first) :]  # instructions that do not fit are left out
        if requests and requests[-1] not in found:
            raise Difference(f"{what}: the request {requests[-1]} is left out")
        if requests and found != [m.content for m in others][-len(found) :]:
            found = found[1:]  # the request, which older messages follow that do not fit
        check(found, [m.content for m in others][-len(found) :] if found else [], what)
        if newest == 1 and not found:
            raise Difference(f"{what}: the newest message is left out")

    def look_for_the_hidden(
        self, user_id: str, thread: Thread | None, parts: list[Any], max_tokens: int, what: str
    ) -> None:
        """Nothing from quarantine is shown, and what compression has put away stands in the summary."""
        texts: dict[str, list[str]] = {}
        for part in parts:
            texts.setdefault(part.source, []).append(part.content)
        shown = {word for m in self.world.memories[user_id].shown() for word in words(m.content)}
        if found := words(*texts.get("memories", [])) - shown:
            raise Difference(f"{what}: shows memories {found}, there are {shown}")
        threads = self.world.talks[user_id].threads.values()
        readable = words(*(m.content for t in threads for m in t.messages.values() if m.is_readable))
        if found := words(*texts.get("recalled", [])) - readable:
            raise Difference(f"{what}: recalls {found}, said was {readable}")
        summary = thread.summaries[-1].text if thread and thread.summaries else None
        is_needed = any(m.summary_id for m in thread.messages.values() if m.is_readable) if thread else False
        known = [summary, *(s.text for s in thread.rolling)] if thread else []
        for text in texts.get("thread_summary", []):
            check(any(s in text for s in known if s), True, f"{what}: {known}")
        profile = self.world.talks[user_id].profiles.made[-1:]
        for text in texts.get("user_summary", []):
            check(any(s.text in text for s in profile), True, f"{what}: {profile}")
        if summary and is_needed and max_tokens >= 4000 and not texts.get("thread_summary"):
            raise Difference(f"{what}: lacks {summary}")

    def look_for_strangers(self, user_id: str, rows: Any, what: str) -> None:
        """No row may hold a word of another user."""
        for other in USERS:
            if other != user_id and MARKERS[other] in str(rows):
                raise Difference(f"{what}: holds what is {other}'s")

    def compare_messages(self, user_id: str) -> None:
        api, talk = self.world.session(user_id), self.world.talks[user_id]
        listed = api.list_threads(user_id=user_id)
        check(
            {row.thread_id: (row.message_count, row.active_tokens, row.total_count) for row in listed},
            {
                thread_id: (len(active), sum(m.token_count for m in active), len(talk.threads))
                for thread_id, thread in talk.threads.items()
                for active in [thread.current()]
            },
            f"list_threads({user_id})",
        )
        for thread_id in {*talk.threads, "t1"}:
            thread = talk.threads.get(thread_id)
            rows = api.get_messages(user_id=user_id, thread_id=thread_id, include_inactive=True)
            check(
                [(m.seq, m.role, m.content, m.agent_id, m.metadata, m.token_count, m.is_active) for m in rows],
                [
                    (m.seq, m.role, m.content, m.agent_id, m.metadata, m.token_count, m.is_active)
                    for m in (thread.messages.values() if thread else [])
                ],
                f"get_messages({user_id}, {thread_id})",
            )
