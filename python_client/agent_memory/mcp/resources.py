"""Threads and artifacts as resources, which are listed and read a page at a time."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from mcp_types import ListResourcesResult, ReadResourceResult, Resource, ResourceTemplate, TextResourceContents

from .._text import counted
from ..client import AsyncMemory
from ..errors import InvalidValueError, NotFoundError
from ..tools.artifacts import is_full
from ..types import Artifact, Thread

SCHEME = "agent-memory"
LISTED = 100
"""Resources on a page of the list."""
MESSAGES = 200
"""Messages on a page of a thread."""
TOKENS = 25_000
"""Tokens of four bytes on a page of an artifact: 100 kB."""

TEMPLATES = [
    ResourceTemplate(
        name="thread",
        title="Conversation",
        uri_template=f"{SCHEME}://threads/{{thread_id}}{{?before}}",
        description=f"The newest {MESSAGES} messages of a conversation before a message's number, as JSON.",
        mime_type="application/json",
    ),
    ResourceTemplate(
        name="artifact",
        title="Text that was put away",
        uri_template=f"{SCHEME}://artifacts/{{key}}{{?from_token}}",
        description=f"{TOKENS} tokens of a text that a placeholder stands for.",
        mime_type="text/plain",
    ),
]
_CURSOR = re.compile(r"(threads|artifacts):(\d{1,9})")


async def listed(memory: AsyncMemory, user_id: str, cursor: str | None) -> ListResourcesResult:
    """Return a page of the user's resources: threads, the most recently used first, then artifacts, newest first.

    Args:
        memory: the client.
        user_id: the user.
        cursor: what the page before named; None for the first page.

    Raises:
        InvalidValueError: the cursor is none of this server.
    """
    at = _CURSOR.fullmatch("threads:0" if cursor is None else cursor)
    if at is None:
        raise InvalidValueError("cursor: is none of this server", hint="Leave it out to begin with the first page.")
    kind, offset = at[1], int(at[2])
    page: list[Resource] = []
    if kind == "threads":
        page = list(map(_thread, await memory.list_threads(user_id, row_limit=LISTED, row_offset=offset)))
        if len(page) == LISTED:
            return ListResourcesResult(resources=page, next_cursor=f"threads:{offset + LISTED}")
        offset = 0
    wanted = LISTED - len(page)  # artifacts begin on the last page of threads, because some hosts read one page only
    artifacts = await memory.list_artifacts(user_id, row_limit=wanted, row_offset=offset)
    following = f"artifacts:{offset + wanted}" if len(artifacts) == wanted else None
    return ListResourcesResult(resources=page + list(map(_artifact, artifacts)), next_cursor=following)


async def read(memory: AsyncMemory, user_id: str, uri: str) -> ReadResourceResult:
    """Return a page of a resource. If there is more, a last content names the URI of the next page.

    Args:
        memory: the client.
        user_id: the user.
        uri: the resource, as the list or the page before named it.

    Raises:
        InvalidValueError: the URI is none of this server.
        NotFoundError: the user has no such thread or artifact.
    """
    kind, name, place = _parsed(uri)
    if kind == "threads":
        return await _read_thread(memory, user_id, uri, name, place)
    text = await memory.retrieve_artifact(user_id, name, from_token=place, max_tokens=TOKENS)
    following = (place or 0) + TOKENS if is_full(text, TOKENS) else None
    return _page(uri, text, "text/plain", "artifacts", name, {"from_token": following})


def _thread(thread: Thread) -> Resource:
    newest = f", the newest of {thread.last_at:%Y-%m-%d %H:%M}" if thread.last_at else ""
    return Resource(
        uri=_uri("threads", thread.thread_id),
        name=thread.thread_id,
        title=thread.title or f"Conversation {thread.thread_id}",
        description=counted(thread.message_count, "message") + newest,
        mime_type="application/json",
    )


def _artifact(artifact: Artifact) -> Resource:
    return Resource(
        uri=_uri("artifacts", artifact.key),
        name=artifact.key,
        title=artifact.description or artifact.key,
        description=f"{artifact.artifact_type}, {counted(artifact.token_count, 'token')}",
        mime_type="text/plain",
    )


def _uri(kind: str, name: str) -> str:
    return f"{SCHEME}://{kind}/{quote(name, safe='')}"


async def _read_thread(
    memory: AsyncMemory, user_id: str, uri: str, thread_id: str, before: int | None
) -> ReadResourceResult:
    messages = await memory.get_messages(user_id, thread_id, recent_k=MESSAGES, before_seq=before)
    if not messages and before is None:
        raise NotFoundError(
            f'this user has no conversation "{thread_id}"', hint="resources/list shows which there are."
        )
    shown = [
        {name: value for name, value in asdict(message).items() if name not in ("is_active", "expires_at")}
        for message in messages
    ]
    text = json.dumps({"thread_id": thread_id, "messages": shown}, default=str, ensure_ascii=False)
    following = messages[0].seq if len(messages) == MESSAGES else None
    return _page(uri, text, "application/json", "threads", thread_id, {"before": following})


def _page(
    uri: str, text: str, mime_type: str, kind: str, name: str, following: dict[str, int | None]
) -> ReadResourceResult:
    contents = [TextResourceContents(uri=uri, mime_type=mime_type, text=text)]
    if None not in following.values():
        more = f"{_uri(kind, name)}?{urlencode(following)}"
        contents.append(TextResourceContents(uri=more, mime_type="text/plain", text=f"There may be more: read {more}"))
    return ReadResourceResult(contents=list(contents))


_PLACES = {"threads": "before", "artifacts": "from_token"}


def _parsed(uri: str) -> tuple[str, str, int | None]:
    """Return the kind, the name and the place that a URI names."""
    try:
        parts = urlsplit(uri)
        query = parse_qsl(parts.query, strict_parsing=True) if parts.query else []
        place = int(query[0][1]) if query else None
    except ValueError:
        raise _unknown(uri) from None
    name = unquote(parts.path.removeprefix("/"))
    names_place = [key for key, _ in query] in ([], [_PLACES.get(parts.netloc)])
    if parts.scheme != SCHEME or parts.netloc not in _PLACES or not name or not names_place:
        raise _unknown(uri)
    return parts.netloc, name, place


def _unknown(uri: str) -> InvalidValueError:
    templates = " and ".join(template.uri_template for template in TEMPLATES)
    return InvalidValueError(f"uri: there is no resource {uri[:300]}", hint=f"There are {templates}.")
