"""One conversation of an agent: its history is loaded, saved to and cleared."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import psycopg

from ...chat_messages import sendable
from ...choices import Role
from ...errors import RetryableError
from ...types import StoredMessage
from .client import AsyncMemory

logger = logging.getLogger("agent_memory")


class AsyncConversation:
    """A thread as an agent sees it: load its history, save each message, clear it.

    Args:
        memory: the client whose connections serve the conversation.
        user_id: whose conversation it is.
        thread_id: the thread of the conversation.
        agent_id: the agent that writes, whose policy and memories count; None is the database's default.
        empty_on_failure: load an empty history where the database is out of reach or fails, instead of raising. An
            agent then still answers, without its memory. The failure is logged as an error of ``agent_memory``.
    """

    def __init__(
        self,
        memory: AsyncMemory,
        user_id: str,
        thread_id: str,
        agent_id: str | None = None,
        *,
        empty_on_failure: bool = False,
    ) -> None:
        self._memory = memory
        self._user_id = user_id
        self._thread_id = thread_id
        self._agent_id = agent_id
        self._empty_on_failure = empty_on_failure

    async def load_memory(self, query: str | None = None, max_tokens: int | None = None) -> list[dict[str, Any]]:
        """Return the messages to send to a model: memories, summaries, what was said before, and the conversation.

        The conversation is loaded whole until it is compressed, at the policy's ``compression.threshold_tokens``. What
        stands beside it has the policy's ``context.max_tokens``.

        Args:
            query: what the user asks now, if it is not saved yet; None takes the newest message of the user.
            max_tokens: the most that all messages may have together; then only the newest of the conversation that fit.

        Returns:
            Dictionaries with ``role`` and ``content`` as chat models take them, and with ``tool_calls``,
            ``tool_call_id`` and ``name`` where a message has them; empty for a new conversation.

        Raises:
            AgentMemoryError: an argument is refused, also with ``empty_on_failure``.
            psycopg.Error: the database fails, unless ``empty_on_failure`` is set.
        """
        try:
            context = await self._memory.get_context(
                self._user_id,
                self._thread_id,
                query=query,
                agent_id=self._agent_id,
                max_tokens=max_tokens,
                whole_thread=True,
            )
        except (psycopg.Error, RetryableError) as error:
            if not self._empty_on_failure:
                raise
            logger.error("The history of thread %r could not be loaded: %s", self._thread_id, error)
            return []
        return [message for _, message in sendable(context)]

    async def save_memory(
        self,
        role: Role | str,
        content: str | None,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> StoredMessage:
        """Append one message. A failing database is an error here: a message that is not stored would be lost."""
        return await self._memory.add_message(
            self._user_id,
            self._thread_id,
            role,
            content,
            agent_id=self._agent_id,
            metadata=metadata,
            idempotency_key=idempotency_key,
        )

    async def clear_conversation(self) -> int:
        """Hide the messages of the agent, without ``agent_id`` those of all agents, and return how many it were."""
        return await self._memory.clear_thread(self._user_id, self._thread_id, agent_id=self._agent_id)
