"""Roles and tokens of tenants."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg
from psycopg import sql

KEY = bytes(range(32))
OTHER_KEY = bytes(range(32, 64))


def text_of(key: bytes) -> str:
    """A key as set_token_key() takes it."""
    return base64.b64encode(key).decode()


def login_role(connection: psycopg.Connection, name: str, *groups: str) -> str:
    """A role that may log in, made anew or taken as it is: the databases of a server share roles."""
    exists = connection.execute("select from pg_roles where rolname = %s", [name]).fetchall()
    statements = [] if exists else [sql.SQL("create role {} login").format(sql.Identifier(name))]
    statements += [sql.SQL("grant {} to {}").format(sql.Identifier(group), sql.Identifier(name)) for group in groups]
    for statement in statements:
        connection.execute(statement)
    return name


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def in_seconds(seconds: float) -> int:
    return int(time.time() + seconds)


def signed(head: bytes, body: bytes, key: bytes = KEY, digest: Any = hashlib.sha256) -> str:
    """A JSON Web Token of any head and body."""
    text = f"{base64url(head)}.{base64url(body)}"
    return f"{text}.{base64url(hmac.new(key, text.encode(), digest).digest())}"


def token(claims: Any, head: Mapping[str, Any] | None = None, **options: Any) -> str:
    """A token as most libraries make one, if nothing else is said."""
    head = head or {"alg": "HS256", "typ": "JWT"}
    parts = [json.dumps(part, separators=(",", ":")).encode() for part in (head, claims)]
    return signed(*parts, **options)


def token_of(user_id: str, seconds: float = 3600, **options: Any) -> str:
    return token({"sub": user_id, "exp": in_seconds(seconds)}, **options)


@contextlib.contextmanager
def session_of(connection: psycopg.Connection, role: str, token: str | None = None) -> Iterator[None]:
    """A part of a transaction in which the session is that of another login role, with a token if there is one."""
    connection.execute(sql.SQL("set local session authorization {}").format(sql.Identifier(role)))
    connection.execute("select set_config('agent_memory.token', %s, true)", [token or ""])
    yield
    connection.execute("reset session authorization")
