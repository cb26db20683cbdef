"""What the tests of long messages do again and again."""

from __future__ import annotations

from typing import Any

from tests.support.sqlapi import Api

LOG = "".join(f"npm http fetch GET 200 https://registry/{number}\n" for number in range(60)) + (
    "npm warn deprecated inflight@1.0.6: This module is not supported\n"
    "npm warn deprecated glob@7.2.3: Old versions\n\nadded 512 packages in 9s\n\nfound 0 vulnerabilities\n"
)
"""About 800 tokens."""
NPM = {"command": "npm install", "exit_status": 0, "tool_call_id": "call_1"}


def say(api: Api, content: str = LOG, role: str = "tool", **arguments: Any) -> Any:
    given = {"user_id": "ana", "thread_id": "t1", "role": role, "content": content, "metadata": NPM, **arguments}
    return api.add_message(**given)


def keys(api: Api, user_id: str = "ana") -> list[str]:
    return sorted(artifact.key for artifact in api.list_artifacts(user_id=user_id))


def content_of(api: Api, key: str, user_id: str = "ana") -> str:
    content: str = api.retrieve_artifact(user_id=user_id, key=key)
    return content


def rows(api: Api, thread_id: str = "t1") -> list[Any]:
    return api.query(
        "select seq, role, content, metadata, token_count, artifact_key from memory.messages"
        " where user_id = 'ana' and thread_id = %(thread_id)s order by seq",
        thread_id=thread_id,
    )
