"""The command that chats with a model that has the memory."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Annotated

import typer

from .._text import counted
from ..client import Memory
from ..errors import AgentMemoryError
from ..source import named_database
from ..types import Context, ContextPart
from .chat_model import ChatModel, chat_model
from .console import Dsn, User, log_to_stderr
from .conversations import print_context
from .printing import console, moment, plain, print_entry, print_line, stderr

_HELP = """/context [QUESTION]  what the model would see, with the tokens of each part
/memories [WORDS]    what is remembered
/search WORDS        what was said and remembered about something
/remember TEXT       remember a fact
/history             the messages of this thread
/thread [NAME]       go to another thread, or say which this is
/quit                leave, as Ctrl-D does"""


def shell(
    user_id: User,
    thread: Annotated[
        str | None,
        typer.Option("--thread", "--thread-id", help="The thread to go on with.", show_default="one for today"),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="A registered chat model, or one of the server at OPENAI_BASE_URL with OPENAI_API_KEY.",
            show_default="the active one, else OPENAI_MODEL",
        ),
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", "--agent-id", help="The agent that answers.", show_default="default")
    ] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Of a context.", show_default="the policy's")] = None,
    dsn: Dsn = None,
) -> None:
    """Chat with a model that has a user's memory. Without a chat model, see the context of each line."""
    log_to_stderr("Note: %(message)s", logging.WARNING)
    with Memory(named_database(dsn)) as memory:
        answering = chat_model(memory, model)
        _Shell(memory, user_id, thread or f"shell-{datetime.now():%Y-%m-%d}", agent, max_tokens, answering).run()


class _Shell:
    """One run of the shell: reads lines, stores them, and answers with what is remembered."""

    def __init__(
        self,
        memory: Memory,
        user_id: str,
        thread_id: str,
        agent_id: str | None,
        max_tokens: int | None,
        model: ChatModel | None,
    ) -> None:
        self._memory = memory
        self._user_id = user_id
        self._thread_id = thread_id
        self._agent_id = agent_id
        self._max_tokens = max_tokens
        self._model = model
        self._commands: dict[str, Callable[[str], None]] = {
            "/help": lambda _: console.print(_HELP, markup=False),
            "/context": lambda question: print_context(self._context(question or None)),
            "/memories": self._print_memories,
            "/search": self._print_results,
            "/remember": self._remember,
            "/history": self._print_history,
            "/thread": self._go_to,
        }

    def run(self) -> None:
        """Answer line after line until the end of the input, or /quit."""
        if sys.stdin.isatty():
            who = "no chat model: each line shows its context" if self._model is None else self._model.name
            print_line(f"{self._user_id}, thread {self._thread_id} · {who} · /help")
        elif self._model is None:
            stderr.print(
                "No chat model: each line shows its context. OPENAI_API_KEY or --model names one.",
                soft_wrap=True,
            )
        for line in self._lines():
            name, _, rest = line.partition(" ")
            if name in ("/quit", "/exit"):
                return
            try:
                if line.startswith("/") and name not in self._commands:
                    stderr.print(plain(f"Error: there is no command {name}", "red"), soft_wrap=True)
                    console.print(_HELP, markup=False)
                else:
                    self._commands.get(name, lambda _, said=line: self._answer(said))(rest.strip())
            except AgentMemoryError as error:
                stderr.print(plain(f"Error: {error.message}", "red"), soft_wrap=True)
                if error.hint:
                    stderr.print(plain(f"Hint: {error.hint}"), soft_wrap=True)
            except KeyboardInterrupt:
                console.print()

    def _lines(self) -> Iterator[str]:
        """Yield what is typed or piped in; the arrow keys bring back what the user said in this thread."""
        is_typed = sys.stdin.isatty()
        if is_typed:
            try:
                import readline

                for message in self._memory.get_messages(self._user_id, self._thread_id, 100, roles=["user"]):
                    readline.add_history(" ".join(message.content.split()))
            except ImportError:
                pass  # this Python was built without it
        while True:
            try:
                line = (input("> ") if is_typed else input()).strip()
            except EOFError:
                return
            except KeyboardInterrupt:
                console.print()
                continue
            if line:
                yield line

    def _answer(self, said: str) -> None:
        self._memory.add_message(self._user_id, self._thread_id, "user", said, agent_id=self._agent_id)
        parts = self._context(None)
        if self._model is None:
            self._print_brought_back(parts)
            return
        with stderr.status("..."):
            reply = self._model.reply(parts)
        self._memory.add_message(self._user_id, self._thread_id, "assistant", reply, agent_id=self._agent_id)
        print_line(reply)
        if sys.stdin.isatty():
            sources = Counter(part.source for part in parts)
            about = ", ".join(f"{number} {source}" for source, number in sources.items())
            total = counted(sum(part.token_count for part in parts), "token")
            console.print(plain(f"{total} of context: {about}", "dim"))

    def _print_brought_back(self, parts: list[ContextPart]) -> None:
        brought = [part for part in parts if part.source != "message"]
        for part in brought:
            print_entry(f"{part.source} · {counted(part.token_count, 'token')}", part.content)
        if not brought:
            console.print("Stored. Nothing is recalled.")

    def _context(self, question: str | None) -> Context:
        return self._memory.get_context(
            self._user_id, self._thread_id, question, agent_id=self._agent_id, max_tokens=self._max_tokens
        )

    def _print_memories(self, words: str) -> None:
        found = self._memory.list_memories(self._user_id, search=words or None)
        for record in found:
            print_entry(f"{record.memory_type} · {moment(record.created_at)} · {record.memory_id}", record.content)
        if not found:
            console.print("No memories.")

    def _print_results(self, words: str) -> None:
        found = self._memory.search(self._user_id, words)
        for result in found:
            when = moment(result.valid_from or result.created_at)
            print_entry(f"{result.score:.2f} · {result.source} · {when}", result.content)
        if not found:
            console.print("Nothing found.")

    def _remember(self, content: str) -> None:
        added = self._memory.add_memory(self._user_id, content, agent_id=self._agent_id)
        console.print("Remembered." if added.inserted else "That is remembered already.")

    def _print_history(self, _: str) -> None:
        for message in self._memory.get_messages(self._user_id, self._thread_id, 50):
            print_entry(f"{message.role} · {moment(message.created_at)}", message.content)

    def _go_to(self, thread_id: str) -> None:
        self._thread_id = thread_id or self._thread_id
        print_line(f"Thread {self._thread_id}.")
