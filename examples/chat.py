"""A chat in the terminal that remembers you.

    export AGENT_MEMORY_DSN=postgresql:///app OPENAI_API_KEY=...      # OPENAI_BASE_URL for a local model
    python examples/chat.py ana

Every run is a thread of its own. What you said in earlier ones comes back as memories, as soon as a worker has read
them: run "agent-memory worker" beside it.
"""

from __future__ import annotations

import os
import sys
from datetime import datetime, timezone

from agent_memory import Memory
from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam

MODEL = os.environ.get("CHAT_MODEL", "gpt-4.1-mini")


def main(user_id: str) -> None:
    """Read lines from standard input until it ends, and answer each one."""
    thread_id = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f")
    model = OpenAI()
    with Memory(os.environ["AGENT_MEMORY_DSN"]) as memory:
        for line in sys.stdin:
            if not line.strip():
                continue
            memory.add_message(user_id, thread_id, "user", line.strip())
            context = memory.get_context(user_id, thread_id, query=line.strip())
            messages: list[ChatCompletionMessageParam] = [
                {"role": part.role, "content": part.content}  # type: ignore[misc]  # role is any of theirs
                for part in context
            ]
            answer = model.chat.completions.create(model=MODEL, messages=messages).choices[0].message.content or "…"
            memory.add_message(user_id, thread_id, "assistant", answer)
            print(answer)


if __name__ == "__main__":
    main(*sys.argv[1:])
