# Generated from _async/embedding.py by generate_sync.py; do not edit.
"""How a client embeds the query of a search or context where the server cannot."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from psycopg import Cursor
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row

from ..._extras import MissingPackageError, has_extra
from ...calls import Notices, SyncCaller, WorkerProtocol, begin_anew_in_children, translated
from ...schema import in_schema
from ...vectors import Embedding
from ..servers import KNOWN_SECONDS, RIGHTS, Server, Vectors, server

if TYPE_CHECKING:
    from ...jobs.due_jobs import DueJobs

logger = logging.getLogger("agent_memory")

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
"""The most users for whom jobs run behind searches."""
_NOT_EMBEDDED = "01AM2"


class SyncEmbedder:
    """Embeds the queries of a client where the server cannot, and does due embed jobs before."""

    def __init__(self, caller: SyncCaller, *, embeds: bool = True, catch_up_seconds: float = 0.2) -> None:
        self._caller = caller
        self._protocol = WorkerProtocol(caller)
        self._embeds = embeds
        self._catch_up_seconds = catch_up_seconds
        self._known: Server | None = None
        self._is_warm = False
        self.begin_anew()
        begin_anew_in_children(self)

    def begin_anew(self) -> None:
        """Use nothing of the process that this one was forked from."""
        self._vectors = Vectors()
        self._due: dict[str, DueJobs] = {}

    def embedding(
        self,
        user_id: str,
        is_context: bool,
        query: str | None = None,
        thread_id: str | None = None,
        agent_id: str | None = None,
    ) -> Embedding | None:
        """Embed a query where the server cannot, and do the user's due embed jobs before.

        The database keeps the embedding, so the call that follows needs no more than its words. Only where a
        transaction is read-only, the embedding is returned for that call.
        """
        if not self._embeds:
            return None
        known = self._server()
        if not known.may_embed or known.embeds_itself():
            return None
        is_probed = known.is_to_be_probed()
        wanted = self._protocol.query_to_embed(user_id, query, thread_id, agent_id, is_context, is_probed)
        if wanted is not None and not is_probed and wanted.model != known.model:
            is_probed = True
            wanted = self._protocol.query_to_embed(user_id, query, thread_id, agent_id, is_context, is_probed)
        if wanted is None:
            return None
        if is_probed:
            known.probed_at, known.model = time.monotonic(), wanted.model
            known.embeds = wanted.server_embeds and not self._runs_here(wanted.model)
        if known.embeds:
            return None
        vector = None
        calls: list[dict[str, Any]] = []
        if wanted.text is not None:
            vector = self._embedding(known, wanted.model, wanted.text, calls)
            if vector is None:
                return None
        if wanted.has_due_jobs and known.may_work and not wanted.is_read_only:
            self._catch_up(known, user_id, wanted.model["provider"] == "local")
        self._is_warm = True
        if wanted.text is None or vector is None or wanted.is_read_only:
            return vector
        self._protocol.keep_query_embedding(user_id, wanted.text, wanted.model, vector, calls or None, agent_id)
        return None

    def _server(self) -> Server:
        if self._known is None or time.monotonic() > self._known.checked_at + KNOWN_SECONDS:
            schema = self._caller.schema
            borrowed = self._caller.borrowed(Notices(self._caller.warned))
            with borrowed as connection, translated(connection, schema=schema):
                known = server((connection.info.dsn, schema))
                if time.monotonic() > known.checked_at + KNOWN_SECONDS:
                    cursor = Cursor(connection, row_factory=dict_row)
                    rights = (cursor.execute(in_schema(RIGHTS, schema))).fetchone() or {}
                    known.may_embed = rights["may_embed"]
                    known.may_work = rights["may_work"] and has_extra("worker")
                    known.checked_at = time.monotonic()
            self._known = known
        return self._known

    def _runs_here(self, model: Mapping[str, Any]) -> bool:
        """Whether a model of provider local runs in this process, which is then better than in the server's sessions.

        Each session of the server would load it for itself.
        """
        if model["provider"] != "local":
            return False
        try:
            self._ask(model, [], [])
        except Exception:
            return False
        return True

    def _embedding(
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
                [vector] = self._ask(model, [text], calls)
            except Exception as error:
                reason = str(error) if isinstance(error, MissingPackageError) else reason_to_keep(error)
                known.fail(name, reason)
        if vector is None:
            self._caller.warn_degraded(
                f"the query is not embedded by this client: {reason}",
                f'See the settings of model "{model["name"]}"; mode "keyword" needs no model.',
                sqlstate=_NOT_EMBEDDED,
            )
        else:
            self._vectors.keep(name, text, vector)
        return vector

    def _ask(self, model: Mapping[str, Any], texts: Sequence[str], calls: list[dict[str, Any]]) -> list[list[float]]:
        from ...jobs.background import answer_in_thread, models, submit

        settings = {**model["settings"]}
        seconds = min(float(settings.get("timeout_seconds") or _LONGEST_CALL), _LONGEST_CALL)
        payload = {
            "model": {**model, "settings": {**settings, "timeout_seconds": seconds}},
            "prompt": None,
            "is_query": True,
            "texts": [{"number": number, "text": text} for number, text in enumerate(texts, 1)],
        }
        result = answer_in_thread(submit(models().run("embed", payload, calls)), seconds)
        vectors: list[list[float]] = result["embeddings"]
        return vectors

    def _catch_up(self, known: Server, user_id: str, is_local: bool) -> None:
        """Do due embed jobs of a user for a moment, so that the search compares what was stored just now.

        Jobs that a worker does already are waited for. What takes longer goes on behind the search; on a connection of
        the caller, which may be in a transaction by then, it is given back. After that, searches do no jobs for a
        while: not for long where the model runs here and has much to do, longer where a provider is too slow.
        """
        from ...jobs.background import sleep_in_thread

        started = time.monotonic()
        own = self._caller.connection
        if (
            not self._catch_up_seconds
            or started < known.idle_until
            or (own is not None and not (own.autocommit and own.info.transaction_status == TransactionStatus.IDLE))
        ):
            return
        end = started + self._catch_up_seconds * (1 if self._is_warm else _FIRST_TIME)
        while True:
            due = self._due_jobs(user_id)
            if due is None:
                sleep_in_thread(_PAUSE)
            elif not self._is_done(due, end):
                break
            elif due.refusal is not None:
                logger.info("no jobs are done before the search: %s", due.refusal)
                return
            elif not due.has_succeeded():
                known.idle_until = time.monotonic() + KNOWN_SECONDS
                return
            elif not due.jobs:
                sleep_in_thread(_PAUSE)  # a worker does what is due
            left = self._protocol.query_to_embed(user_id)
            if left is None or not left.has_due_jobs:
                return
            if time.monotonic() > end:
                break
        known.idle_until = time.monotonic() + (_BUSY_SECONDS if is_local else KNOWN_SECONDS)

    def _due_jobs(self, user_id: str) -> DueJobs | None:
        """Return the user's embed jobs that this client does, claimed now unless some are under way."""
        from ...jobs.background import no_loop
        from ...jobs.due_jobs import DueJobs

        for user, each in [*self._due.items()]:
            if each.end.done():
                self._due.pop(user, None)
        if user_id not in self._due and len(self._due) < _MOST_USERS:
            self._due[user_id] = DueJobs(self._protocol, no_loop(), user_id, "embed")
        return self._due.get(user_id)

    def _is_done(self, due: DueJobs, end: float) -> bool:
        """Wait for jobs until `end`. On a connection of the caller they are given back then."""
        from ...jobs.background import is_done_in_thread

        is_done = is_done_in_thread(due.end, max(end - time.monotonic(), 0.0))
        if not is_done and self._caller.connection is not None:
            due.give_back()
            is_done_in_thread(due.end, _LONGEST_END)
        return is_done

    def close(self) -> None:
        """Give back the jobs that are under way behind a search."""
        for due in [*self._due.values()]:
            from ...jobs.background import is_done_in_thread

            due.give_back()
            is_done_in_thread(due.end, _LONGEST_END)
            due.end.cancel()
