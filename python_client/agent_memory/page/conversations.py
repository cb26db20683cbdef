"""Shows users, their threads and messages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from starlette.responses import Response

from ..errors import NotFoundError
from ..server.problems import ProblemError
from .database import Row
from .paging import SIZE, offset_of, paging
from .view import Visit

_THREADS = """
select thread_id, next_seq, message_count, active_tokens, first_at, last_at, count(*) over () as total_count
from memory.thread_stats
where user_id = %(user)s and (%(search)s::text is null or strpos(lower(thread_id), lower(%(search)s)) > 0)
order by last_at desc nulls last, thread_id
limit %(limit)s offset %(offset)s
"""
_MESSAGES = """
select *, expires_at <= now() as is_expired from memory.get_messages(
  user_id => %(user)s, thread_id => %(thread)s, recent_k => %(limit)s, before_seq => %(before)s,
  include_inactive => %(all)s)
"""
_SUMMARIES = """
select s.* from unnest(array['thread', 'rolling']) as k (kind)
cross join lateral memory.get_thread_summary(user_id => %(user)s, thread_id => %(thread)s, kind => k.kind) as s
"""
_CHAIN = """
select * from memory.summary_chain where user_id = %(user)s and thread_id = %(thread)s
order by created_at desc limit 20
"""
_ARTIFACT = """
select memory.retrieve_artifact(
  user_id => %(user)s, key => %(key)s, from_token => %(start)s, max_tokens => %(most)s) as content
"""
_OPENED_TOKENS = 2000
"""Tokens of an artifact that are shown at a time; a token is four bytes here."""
_REF = re.compile(r"\[MemoryRef: ([A-Za-z0-9._:/@#=+-]+)(?: - [^\]]*)?\]")
_SHOWN = 2000
"""Characters of a message that are shown before one asks for the rest."""


@dataclass(frozen=True)
class Band:
    """Messages that the same summaries cover, or messages that are gone."""

    summaries: list[Row]
    continues: bool
    messages: list[Row]
    gone: tuple[int, int] | None = None


async def show_users(visit: Visit) -> Response:
    """Show all users, the last heard of first."""
    asked = visit.asked
    found = await visit.memory.admin.list_users(asked.text("search"), SIZE, offset_of(asked))
    total = found[0].total_count if found else 0
    return visit.shown("users.html", users=found, paging=paging("users", asked, len(found), total))


async def show_user(visit: Visit) -> Response:
    """Show the threads and the profile of a user."""
    asked, database = visit.asked, visit.database
    user_id = asked.needed("user")
    found = await database.rows(
        _THREADS, user=user_id, search=asked.text("search"), limit=SIZE, offset=offset_of(asked)
    )
    profile = await database.row("select * from memory.get_user_summary(user_id => %(user)s)", user=user_id)
    total = found[0]["total_count"] if found else 0
    place = paging("user", asked, len(found), total)
    return visit.shown("user.html", threads=found, profile=profile, paging=place)


async def show_thread(visit: Visit) -> Response:
    """Show the messages of a thread, with the summaries beside what they cover."""
    asked, database = visit.asked, visit.database
    user_id, thread_id = asked.needed("user"), asked.needed("thread")
    before, only_active = asked.number("before"), asked.text("show") == "active"
    stats = await database.row(
        "select * from memory.thread_stats where user_id = %(user)s and thread_id = %(thread)s",
        user=user_id,
        thread=thread_id,
    )
    if stats is None:
        raise ProblemError(404, "the user has no such thread", hint="Choose one in the list of the user's threads.")
    messages = await database.rows(
        _MESSAGES, user=user_id, thread=thread_id, limit=SIZE, before=before, all=not only_active
    )
    summaries = await database.rows(_SUMMARIES, user=user_id, thread=thread_id)
    chain = await database.rows(_CHAIN, user=user_id, thread=thread_id)
    opened = asked.text("open")
    for message in messages:
        message["pieces"] = pieces_of(message["content"])
        message["away"] = _why_away(message, summaries)
    return visit.shown(
        "thread.html",
        thread=thread_id,
        stats=stats,
        bands=_bands(messages, summaries, only_active=only_active),
        messages=messages,
        summaries=summaries,
        chain=chain,
        opened=opened,
        artifact=None if opened is None else await _opened(visit, opened),
        older=messages[0]["seq"] if messages and messages[0]["seq"] > 0 else None,
        newer=messages[-1]["seq"] + SIZE + 1 if messages and messages[-1]["seq"] + 1 < stats["next_seq"] else None,
    )


async def show_artifact(visit: Visit) -> Response:
    """Show an artifact a few pages of text at a time."""
    key, start = visit.asked.needed("key"), visit.asked.number("from", most=2**31 - 1) or 0
    visit.asked.needed("user")
    return visit.shown("artifact.html", artifact=await _artifact(visit, key, start))


async def _opened(visit: Visit, key: str) -> dict[str, Any]:
    """Return the beginning of an artifact; of one that is not stored any more, what the database says of it."""
    try:
        return await _artifact(visit, key, 0)
    except NotFoundError as error:
        return {"key": key, "content": error.message, "start": 0, "next": None}


async def _artifact(visit: Visit, key: str, start: int) -> dict[str, Any]:
    """Return a part of an artifact."""
    found = await visit.database.rows(
        _ARTIFACT, user=visit.asked.needed("user"), key=key, start=start, most=_OPENED_TOKENS
    )
    content = found[0]["content"]
    is_more = len(content.encode()) >= 4 * _OPENED_TOKENS - 3
    return {"key": key, "content": content, "start": start, "next": start + _OPENED_TOKENS if is_more else None}


def pieces_of(content: str) -> list[tuple[str, str, str]]:
    """Return a text as pieces: a kind (text, rest or ref), what is shown, and the key of the artifact of a ref."""
    pieces: list[tuple[str, str, str]] = []
    end = shown = 0
    for ref in _REF.finditer(content):
        pieces += _cut(content[end : ref.start()], shown)
        shown += ref.start() - end
        pieces.append(("ref", ref[0], ref[1]))
        end = ref.end()
    return [*pieces, *_cut(content[end:], shown)]


def _cut(text: str, shown: int) -> list[tuple[str, str, str]]:
    """Return a text in a part that is shown, and one that is shown when somebody asks for it."""
    room = max(_SHOWN - shown, 0)
    cut = [("text", text[:room], ""), ("rest", text[room:], "")]
    return [piece for piece in cut if piece[1]]


def _why_away(message: Row, summaries: list[Row]) -> str | None:
    """Return why a model no longer sees a message, None where it does."""
    if message["is_active"]:
        return "expired" if message["is_expired"] else None
    is_covered = any(each["kind"] == "thread" and _covers(each, message["seq"]) for each in summaries)
    return "put away by compression" if is_covered else "cleared"


def _covers(summary: Row, seq: int) -> bool:
    covers: bool = summary["start_seq"] <= seq <= summary["end_seq"]
    return covers


def _bands(messages: list[Row], summaries: list[Row], *, only_active: bool) -> list[Band]:
    """Return the messages as bands; between them, those that are no longer stored."""
    bands: list[Band] = []
    said: set[str] = set()
    expected = messages[0]["seq"] if messages else 0

    def place(message: Row) -> tuple[int, ...]:
        return tuple(number for number, each in enumerate(summaries) if _covers(each, message["seq"]))

    for numbers, group in groupby(messages, place):
        covering = [summaries[number] for number in numbers]
        members: list[Row] = []
        for message in group:
            if message["seq"] > expected and not only_active:
                bands += _band(covering, said, members)
                bands.append(Band([], False, [], (expected, message["seq"] - 1)))
                members = []
            members.append(message)
            expected = message["seq"] + 1
        bands += _band(covering, said, members)
    return bands


def _band(covering: list[Row], said: set[str], messages: list[Row]) -> list[Band]:
    if not messages:
        return []
    kinds = {each["kind"] for each in covering}
    band = Band(covering, bool(kinds) and kinds <= said, messages)
    said |= kinds
    return [band]
