"""The addresses of all views."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from ..client import AsyncMemory
from . import alike, contexts, conversations, found, login, memories, review, rules, work
from .rendering import HEADERS
from .sessions import Sessions
from .view import Views

_STYLE = Path(__file__).parent / "page.css"


def routes(memory: AsyncMemory, is_key: Callable[[str], bool], *, is_keyless: bool, may_edit: bool) -> list[BaseRoute]:
    """Return the routes of the page, for an application behind ``server.access.Access``.

    Args:
        memory: finds the database of each user.
        is_key: tells whether a text is the administrator's key.
        is_keyless: whether that key is a token in the address that the command prints.
        may_edit: whether forms may change something.
    """
    sessions = Sessions()
    views = Views(memory, sessions, is_keyless=is_keyless, may_edit=may_edit)

    async def style(_: Request) -> Response:
        return FileResponse(_STYLE, media_type="text/css", headers=HEADERS | {"Cache-Control": "no-cache"})

    return [
        Route("/page/page.css", style),
        *login.routes(sessions, is_key, is_keyless=is_keyless),
        views.route("users", conversations.show_users),
        views.route("user", conversations.show_user),
        views.route("thread", conversations.show_thread),
        views.route("artifact", conversations.show_artifact),
        views.route("context", contexts.show_context),
        views.route("memories", memories.show_memories),
        views.route("memory", memories.show_memory),
        views.change("memory", memories.change_memory),
        views.route("search", found.show_search),
        views.route("alike", alike.show_alike),
        views.change("alike", alike.change_pair),
        views.route("review", review.show_review),
        views.change("review", review.change_review),
        views.route("work", work.show_work),
        views.change("work", work.change_job),
        views.route("rules", rules.show_rules),
    ]
