"""The client: the methods of all rooms in one class."""

from __future__ import annotations

from types import TracebackType

from ..arguments import argument_senders
from .administration import AsyncAdministration
from .artifacts import AsyncArtifacts
from .documents import AsyncDocuments
from .jobs import AsyncJobs
from .memories import AsyncMemories
from .messages import AsyncMessages
from .models import AsyncModels
from .search import AsyncSearch
from .secrets import AsyncSecrets
from .worker_protocol import AsyncWorkerProtocol


class AsyncMemory(
    AsyncMessages,
    AsyncMemories,
    AsyncSearch,
    AsyncDocuments,
    AsyncArtifacts,
    AsyncSecrets,
    AsyncJobs,
    AsyncWorkerProtocol,
    AsyncModels,
    AsyncAdministration,
):
    """The functions of schema ``memory``: one method for each, with the function's name and arguments.

    A client made of an open connection joins the caller's transaction with each call; it commits, rolls back and closes
    nothing. A client made of a pool borrows a connection for each call, which is a transaction of its own. A client
    made of a connection string opens a pool of its own, and closes it in ``close()`` or at the end of ``with``.

    An optional argument that is None takes the database's default. Arguments have the types that the signatures name;
    times have a time zone. ``datetime.max`` is sent as infinity, which means never. A time that is None in a result
    means never, or is a time that datetime cannot hold.

    Every method raises the exceptions of ``agent_memory.errors`` for refusals of the SQL API, and psycopg's own for
    all other errors. After an error of the server, the caller has to roll back the transaction, as after any statement.
    Notices of the server go to the logger ``agent_memory``. A notice that the answer is degraded is also a
    ``DegradedWarning``, once per cause.

    Args:
        source: a psycopg connection, a psycopg pool or a connection string.
        pool_size: how many connections the client's own pool may open.
    """

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()


AsyncMemory._senders = argument_senders(AsyncMemory)
