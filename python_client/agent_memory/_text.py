"""Wording of messages, and how stored text is shown."""

from __future__ import annotations

import re

# Terminals obey control characters (C0, DEL and C1; escape sequences begin with one), and marks of direction make a
# line read as another one. Line ends and tabs stay.
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return e.g. "1 job" or "2 jobs"; ``plural`` is for nouns that take more than an s."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def pip_install(extra: str) -> str:
    """Return the command that installs an extra, from a package index and in a clone, where it is not published."""
    return f"pip install 'pg-agent-memory[{extra}]' (in a clone: pip install '.[{extra}]')"


def storable(text: str) -> str:
    """Return the text with U+FFFD for what PostgreSQL cannot store: NUL, and half a surrogate pair."""
    if "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    return text.replace("\0", "�").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def harmless(text: str) -> str:
    """Return the text with a visible sign in place of each character that a terminal would obey."""
    return UNSAFE.sub(_sign, text.replace("\r\n", "\n"))


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else "␡" if code == 0x7F else "�"
