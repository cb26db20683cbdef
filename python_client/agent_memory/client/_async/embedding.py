"""How a client embeds the query of a search or context where the server cannot."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from psycopg import AsyncCursor
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row

from ...errors import AgentMemoryError
from ...types import QueryToEmbed
from ..notices import Notices, logger
from ..servers import KNOWN_SECONDS, RIGHTS, Server, server
from .caller import translated
from .worker_protocol import AsyncWorkerProtocol

if TYPE_CHECKING:
    from ..due_jobs import DueJobs

_LONGEST_CALL = 10.0
"""Seconds that a search waits for the embedding of its query, as the server itself would."""
_LONGEST_END = 1.0
"""Seconds that jobs may take to be given back."""
_FIRST_TIME = 10
"""So many times as long as later ones the first search of a client may do jobs: it has loaded the model besides, and
without an embedding it would find nothing by meaning."""
_PAUSE = 0.02
"""Seconds between two looks at jobs that a worker does."""
_BUSY_SECONDS = 1.0
"""How long searches do no jobs after one that had more to do than there was time for."""
_MOST_USERS = 4
"""Of so many users jobs may be under way behind searches."""
_NOT_EMBEDDED = "01AM2"


class AsyncEmbedding(AsyncWorkerProtocol):
    """The methods for clients that embed queries where the server cannot; searches and contexts call them."""

    async def query_to_embed(
        self,
        user_id: str,
        query: str | None = None,
        thread_id: str | None = None,
        agent_id: str | None = None,
        is_context: bool | None = False,
        probe: bool | None = False,
    ) -> QueryToEmbed | None:
        """Return the model and the text to embed before a search or context; None if no embedding model is active.

        With ``probe`` the server says whether it can call the model by itself.
        """
        rows = await self._rows(
            QueryToEmbed,
            "query_to_embed",
            {"user_id": user_id},
            query=query,
            thread_id=thread_id,
            agent_id=agent_id,
            is_context=is_context,
            probe=probe,
        )
        return rows[0] if rows else None

    async def keep_query_embedding(
        self,
        user_id: str,
        query: str,
        embedding_model: Mapping[str, Any],
        embedding: Sequence[float],
        calls: Sequence[Mapping[str, Any]] | None = None,
        agent_id: str | None = None,
    ) -> bool:
        """Keep the embedding of a query for the searches that follow; False if the model is another one by now."""
        return await self._value(
            bool,
            "keep_query_embedding",
            {"user_id": user_id, "query": query, "embedding_model": embedding_model, "embedding": embedding},
            calls=calls,
            agent_id=agent_id,
        )

    async def _prepared(
        self,
        user_id: str,
        query: str | None,
        thread_id: str | None = None,
        agent_id: str | None = None,
        is_context: bool = False,
    ) -> Sequence[float] | None:
        """Embed a query where the server cannot, and do the user's due embed jobs before.

        The database keeps the embedding, so the call that follows needs no more than its words. Only where a
        transaction is read-only, the embedding is returned for that call.
        """
        if not self._embeds_queries:
            return None
        known = await self._server()
        if not known.may_embed or known.embeds_itself():
            return None
        is_probed = known.is_to_be_probed()
        wanted = await self.query_to_embed(user_id, query, thread_id, agent_id, is_context, is_probed)
        if wanted is not None and not is_probed and wanted.model != known.model:
            is_probed = True
            wanted = await self.query_to_embed(user_id, query, thread_id, agent_id, is_context, is_probed)
        if wanted is None:
            return None
        if is_probed:
            known.probed_at, known.model = time.monotonic(), wanted.model
            known.embeds = wanted.server_embeds and not await self._runs_here(wanted.model)
        if known.embeds:
            return None
        vector = None
        calls: list[dict[str, Any]] = []
        if wanted.text is not None:
            vector = await self._embedding(known, wanted.model, wanted.text, calls)
            if vector is None:
                return None
        if wanted.has_due_jobs and known.may_work and not wanted.is_read_only:
            await self._catch_up(known, user_id, wanted.model["provider"] == "local")
        self._is_warm = True
        if wanted.text is None or vector is None or wanted.is_read_only:
            return vector
        await self.keep_query_embedding(user_id, wanted.text, wanted.model, vector, calls or None, agent_id)
        return None

    async def _server(self) -> Server:
        if self._known is None or time.monotonic() > self._known.checked_at + KNOWN_SECONDS:
            async with self._borrowed(Notices(self._warned)) as connection, translated(connection):
                known = server(connection.info.dsn)
                if time.monotonic() > known.checked_at + KNOWN_SECONDS:
                    cursor = AsyncCursor(connection, row_factory=dict_row)
                    rights = await (await cursor.execute(RIGHTS)).fetchone() or {}
                    known.may_embed, known.may_work = rights["may_embed"], rights["may_work"]
                    known.checked_at = time.monotonic()
            self._known = known
        return self._known

    async def _runs_here(self, model: Mapping[str, Any]) -> bool:
        """Whether a model of provider local runs in this process, which is then better than in the server's sessions.

        Each session of the server would load it for itself.
        """
        if model["provider"] != "local":
            return False
        try:
            await self._ask(model, [], [])
        except Exception:
            return False
        return True

    async def _embedding(
        self, known: Server, model: Mapping[str, Any], text: str, calls: list[dict[str, Any]]
    ) -> list[float] | None:
        """Return the embedding of a query; None if it cannot be had, which a warning says."""
        from agent_memory_models import reason_to_keep

        name = json.dumps(model, sort_keys=True)
        vector = self._vectors.get(name, text)
        if vector is not None:
            return vector
        reason = known.known_failure(name)
        if reason is None:
            try:
                [vector] = await self._ask(model, [text], calls)
            except Exception as error:
                reason = reason_to_keep(error)
                known.fail(name, reason)
        if vector is None:
            self._warn_degraded(
                f"the query is not embedded by this client: {reason}",
                f'See the settings of model "{model["name"]}"; mode "keyword" needs no model.',
                sqlstate=_NOT_EMBEDDED,
            )
        else:
            self._vectors.keep(name, text, vector)
        return vector

    async def _ask(
        self, model: Mapping[str, Any], texts: Sequence[str], calls: list[dict[str, Any]]
    ) -> list[list[float]]:
        from ..background import answer_in_loop, models, submit

        settings = {**model["settings"]}
        seconds = min(float(settings.get("timeout_seconds") or _LONGEST_CALL), _LONGEST_CALL)
        payload = {
            "model": {**model, "settings": {**settings, "timeout_seconds": seconds}},
            "prompt": None,
            "is_query": True,
            "texts": [{"number": number, "text": text} for number, text in enumerate(texts, 1)],
        }
        result = await answer_in_loop(submit(models().run("embed", payload, calls)), seconds)
        vectors: list[list[float]] = result["embeddings"]
        return vectors

    async def _catch_up(self, known: Server, user_id: str, is_local: bool) -> None:
        """Do due embed jobs of a user for a moment, so that the search compares what was stored just now.

        Jobs that a worker does already are waited for. What takes longer goes on behind the search; on a connection of
        the caller, which may be in a transaction by then, it is given back. After that, searches do no jobs for a
        while: not for long where the model runs here and has much to do, longer where a provider is too slow.
        """
        from ..background import sleep_in_loop

        started = time.monotonic()
        own = self._connection
        if (
            not self._catch_up_seconds
            or started < known.idle_until
            or (own is not None and not (own.autocommit and own.info.transaction_status == TransactionStatus.IDLE))
        ):
            return
        end = started + self._catch_up_seconds * (1 if self._is_warm else _FIRST_TIME)
        while True:
            try:
                due = await self._due_jobs(user_id)
            except AgentMemoryError as error:
                logger.info("no jobs are done before the search: %s", error)
                return
            if due is None:
                await sleep_in_loop(_PAUSE)
            elif not await self._is_done(due, end):
                break
            elif not due.has_succeeded():
                known.idle_until = time.monotonic() + KNOWN_SECONDS
                return
            left = await self.query_to_embed(user_id)
            if left is None or not left.has_due_jobs:
                return
            if time.monotonic() > end:
                break
        known.idle_until = time.monotonic() + (_BUSY_SECONDS if is_local else KNOWN_SECONDS)

    async def _due_jobs(self, user_id: str) -> DueJobs | None:
        """Return the user's embed jobs that this client does, which it claims unless some are under way."""
        from ..background import running_loop
        from ..due_jobs import LEASE, MAX_JOBS, DueJobs, client_name

        for user, each in [*self._due.items()]:
            if each.end.done():
                self._due.pop(user, None)
        if user_id not in self._due and len(self._due) < _MOST_USERS:
            jobs = await self.claim_jobs(client_name(), ["embed"], MAX_JOBS, LEASE, user_id)
            if jobs:
                self._due[user_id] = DueJobs(self, running_loop(), jobs)
        return self._due.get(user_id)

    async def _is_done(self, due: DueJobs, end: float) -> bool:
        """Wait for jobs until `end`. On a connection of the caller they are given back then."""
        from ..background import is_done_in_loop

        is_done = await is_done_in_loop(due.end, max(end - time.monotonic(), 0.0))
        if not is_done and self._connection is not None:
            due.give_back()
            await is_done_in_loop(due.end, _LONGEST_END)
        return is_done

    async def close(self) -> None:
        """Close the client's own pool, and give back the jobs that are under way behind a search.

        A connection or pool that was passed in stays open.
        """
        for due in [*self._due.values()]:
            from ..background import is_done_in_loop

            due.give_back()
            await is_done_in_loop(due.end, _LONGEST_END)
            due.end.cancel()
        await super().close()
