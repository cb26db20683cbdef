"""Anthropic: the memory tool of Claude on the files of a user."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from ..client import AsyncMemory, Memory
from ..errors import AgentMemoryError
from ..tools.files import FileText
from ..tools.toolbox import TOLD, AsyncMemoryTools, MemoryTools
from .clients import needs

with needs("anthropic"):
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

if TYPE_CHECKING:
    from anthropic.types.beta import BetaCacheControlEphemeralParam

_TOOL = "memory_files"


class MemoryTool(BetaAbstractMemoryTool):
    """Claude's memory tool: ``client.beta.messages.tool_runner(tools=[MemoryTool(memory, "ana")], ...)``.

    Files are documents of the user, in the namespace /memories: search finds them, they are exported and forgotten with
    the user, and they are the same as those of the tool ``memory_files``. Results and errors have the texts of the
    package's own tools; what Claude cannot mend, such as a database that fails, is raised.

    Args:
        memory: the client.
        user_id: whose files they are.
        cache_control: what the definition of the tool says about caching.
    """

    def __init__(
        self, memory: Memory, user_id: str, *, cache_control: BetaCacheControlEphemeralParam | None = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._memory = memory
        self._user_id = user_id
        self._tools = MemoryTools(memory, user_id, names=[_TOOL])

    def _run(self, command: Any) -> str:
        try:
            return cast("FileText", self._tools.call(_TOOL, _arguments(command))).text
        except TOLD as error:
            raise _told(error) from error

    view = create = str_replace = insert = delete = rename = _run

    def clear_all_memory(self) -> str:
        """Delete all files of the user."""
        self._memory.delete_documents(self._user_id, namespace="/memories")
        return "All memory cleared"


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for an ``AsyncMemory`` and the asynchronous client of Anthropic."""

    def __init__(
        self, memory: AsyncMemory, user_id: str, *, cache_control: BetaCacheControlEphemeralParam | None = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._memory = memory
        self._user_id = user_id
        self._tools = AsyncMemoryTools(memory, user_id, names=[_TOOL])

    async def _run(self, command: Any) -> str:
        try:
            return cast("FileText", await self._tools.call(_TOOL, _arguments(command))).text
        except TOLD as error:
            raise _told(error) from error

    view = create = str_replace = insert = delete = rename = _run

    async def clear_all_memory(self) -> str:
        """Delete all files of the user."""
        await self._memory.delete_documents(self._user_id, namespace="/memories")
        return "All memory cleared"


def _arguments(command: Any) -> dict[str, Any]:
    """The arguments of the tool: Claude calls the path of a rename ``old_path``."""
    return {"path" if name == "old_path" else name: value for name, value in dict(command).items()}


def _told(error: AgentMemoryError) -> ToolError:
    """What Claude is told: sentences of the package's own tools stand after the name of the argument."""
    return ToolError(re.sub(r"^\w+: (?=[A-Z])", "", error.message))
