"""Executes the tool calls of models, for one user that the application names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, Literal, TypeVar

from ..calls import heard
from ..client import AsyncMemory, Memory
from ..errors import (
    AgentMemoryError,
    BudgetExceededError,
    ConflictError,
    DegradedWarning,
    InvalidValueError,
    LimitExceededError,
    NotFoundError,
    RetryableError,
)
from .artifacts import RetrieveMemory, SearchMemory, StoreMemory
from .conversations import AddMessages, GetContext, ListThreads
from .definition import Found, Result, Scope, Tool
from .files import MemoryFiles
from .knowledge import ListDocuments, SearchKnowledgeBase
from .memories import AddMemory, Forget, ListMemories, Search, UpdateMemory
from .notes import note_of

Client = TypeVar("Client", Memory, AsyncMemory)
Api = Literal["chat", "responses"]

TOOLS: dict[str, type[Tool]] = {
    tool.tool_name(): tool
    for tool in (
        Search,
        AddMemory,
        UpdateMemory,
        Forget,
        ListMemories,
        GetContext,
        ListThreads,
        AddMessages,
        StoreMemory,
        RetrieveMemory,
        SearchMemory,
        SearchKnowledgeBase,
        ListDocuments,
        MemoryFiles,
    )
}
"""All tools by their names.

Those that are not listed have the names of documents C and A for long texts and the knowledge base. A model that is
shown two tools to store with and three to search with takes the wrong one, so that a preference becomes a text that was
put away, and is missed later. ``search`` finds what the other two find; a long text is put away by itself when its
message is stored. Files are for models that are told to keep notes.
"""
LISTED = [name for name, tool in TOOLS.items() if tool.is_listed]
"""The tools that models are shown."""

TOLD = (InvalidValueError, NotFoundError, ConflictError, LimitExceededError, RetryableError, BudgetExceededError)
"""The errors that a model can mend, or has to live with. All others are the application's."""


def openai_tools(
    names: Iterable[str] | None = None, *, api: Api = "chat", strict: bool = False
) -> list[dict[str, Any]]:
    """Return tools as the argument ``tools`` of an OpenAI request.

    Args:
        names: which tools; those of ``LISTED`` for None.
        api: "chat" for chat completions, "responses" for the Responses API, which nests less.
        strict: whether the model is held to the schemas (OpenAI's strict mode). Then it names every argument.

    Raises:
        InvalidValueError: there is no such tool or api.
    """
    if api not in ("chat", "responses"):
        raise InvalidValueError(f'api: unknown value "{api}"', hint="Use chat or responses.")
    functions: list[dict[str, Any]] = [
        {
            "name": name,
            "description": tool.tool_description(),
            "parameters": tool.arguments_schema(strict=strict),
            "strict": strict,
        }
        for name, tool in selected(LISTED if names is None else names).items()
    ]
    if api == "responses":
        return [{"type": "function", **function} for function in functions]
    return [{"type": "function", "function": function} for function in functions]


def selected(names: Iterable[str] | None) -> dict[str, type[Tool]]:
    """Return tools by their names; all of them for None.

    Raises:
        InvalidValueError: there is no such tool.
    """
    return TOOLS if names is None else {name: tool_named(name, TOOLS) for name in names}


def tool_named(name: str, tools: Mapping[str, type[Tool]]) -> type[Tool]:
    """Return the tool of a name.

    Raises:
        InvalidValueError: there is no such tool.
    """
    if name not in tools:
        shown = [each for each, tool in tools.items() if tool.is_listed] or tools
        raise InvalidValueError(f'there is no tool "{name}"', hint=f"The tools are: {', '.join(shown)}.")
    return tools[name]


def refusal(error: AgentMemoryError) -> str:
    """Return what a model is told of an error."""
    return f"Error: {error.message}" if error.hint is None else f"Error: {error.message}\nHint: {error.hint}"


class _Toolbox(Generic[Client]):
    """What the blocking and the asynchronous toolbox have in common.

    Args:
        memory: the client. Each call is a transaction of its own, unless the client was made of a connection.
        user_id: the user. A model can neither see nor choose it.
        agent_id: the agent that what is stored belongs to, and that searches are about; None for all agents.
        thread_id: the conversation that is going on.
        names: which tools there are; all of them for None, of which the model is shown those of ``LISTED``.

    Raises:
        InvalidValueError: there is no such tool.
    """

    def __init__(
        self,
        memory: Client,
        user_id: str,
        *,
        agent_id: str | None = None,
        thread_id: str | None = None,
        names: Iterable[str] | None = None,
    ) -> None:
        self._memory: Client = memory
        self._scope = Scope(user_id, agent_id, thread_id)
        self._tools = selected(names)
        self._shown = LISTED if names is None else list(self._tools)

    def __contains__(self, name: object) -> bool:
        """Tell whether a tool of this name is in the box, for applications that have other tools, too."""
        return name in self._tools

    def definitions(self, *, api: Api = "chat", strict: bool = False) -> list[dict[str, Any]]:
        """Return the tools as the argument ``tools`` of an OpenAI request; see ``openai_tools``."""
        return openai_tools(self._shown, api=api, strict=strict)

    def _prepared(self, name: str, arguments: Any) -> tuple[Tool, Any, dict[str, Any]]:
        """Return the checked call, the method of the client and its arguments."""
        tool = tool_named(name, self._tools).checked(arguments)
        request = {"user_id": self._scope.user_id, **tool.request(self._scope)}
        return tool, getattr(self._memory, tool.method), request


class MemoryTools(_Toolbox[Memory]):
    """Tools for a model, executed by a Memory for one user.

    ``definitions()`` is what the model gets, ``execute(call)`` answers its calls.
    """

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> Result:
        """Call a tool and return its result.

        Args:
            name: the tool.
            arguments: an object, or its JSON.

        Raises:
            InvalidValueError: there is no such tool, or the arguments are not what it takes.
            AgentMemoryError, psycopg.Error: as the client's method.
        """
        tool, method, request = self._prepared(name, arguments)
        try:
            with heard() as causes:
                return _noted(tool.answer(method(**request)), causes)
        except AgentMemoryError as error:
            tool.explain(error)
            raise

    def execute(self, call: Any) -> dict[str, Any]:
        """Execute a tool call of a model and return the message that answers it.

        What the model can mend (a wrong argument, an unknown id) is an answer, too: it says what is wrong and what
        helps. The other errors are raised.

        Args:
            call: a tool call of a chat completion or an item function_call of the Responses API, as the object of the
                package openai or as a dict.

        Raises:
            AgentMemoryError, psycopg.Error: the database does not serve.
            InvalidValueError: that is no tool call.
        """
        request = _Call(call)
        try:
            return request.answer(self.call(request.name, request.arguments).as_json())
        except TOLD as error:
            return request.answer(refusal(error))


class AsyncMemoryTools(_Toolbox[AsyncMemory]):
    """Tools for a model, executed by an AsyncMemory for one user; otherwise as MemoryTools."""

    async def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> Result:
        """Call a tool and return its result; see ``MemoryTools.call``."""
        tool, method, request = self._prepared(name, arguments)
        try:
            with heard() as causes:
                return _noted(tool.answer(await method(**request)), causes)
        except AgentMemoryError as error:
            tool.explain(error)
            raise

    async def execute(self, call: Any) -> dict[str, Any]:
        """Execute a tool call of a model and return the message that answers it; see ``MemoryTools.execute``."""
        request = _Call(call)
        try:
            return request.answer((await self.call(request.name, request.arguments)).as_json())
        except TOLD as error:
            return request.answer(refusal(error))


def _noted(result: Result, causes: Sequence[DegradedWarning]) -> Result:
    """Return a result that says what it lacks, if it is of a kind that can lack something."""
    if isinstance(result, Found):
        result.note = note_of(causes)
    return result


class _Call:
    """A tool call of a model, of either API of OpenAI."""

    def __init__(self, call: Any) -> None:
        whole = call.model_dump() if hasattr(call, "model_dump") else call
        is_chat = isinstance(whole, Mapping) and isinstance(whole.get("function"), Mapping)
        try:
            function = whole["function"] if is_chat else whole
            self.name: str = function["name"]
            self.arguments: str = function["arguments"]
            self._id: str = whole["id" if is_chat else "call_id"]
        except (KeyError, TypeError):
            raise InvalidValueError(
                "call: is no tool call of a chat completion, and no function_call of the Responses API",
                hint="Pass one of message.tool_calls, or an item of response.output whose type is function_call.",
            ) from None
        self._is_chat = is_chat

    def answer(self, text: str) -> dict[str, Any]:
        """Return the message that answers the call."""
        if self._is_chat:
            return {"role": "tool", "tool_call_id": self._id, "content": text}
        return {"type": "function_call_output", "call_id": self._id, "output": text}
