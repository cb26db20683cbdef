"""Reads the address or the form of a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from urllib.parse import parse_qsl
from uuid import UUID

from ..server.problems import ProblemError

_MOST = (1 << 63) - 1
_MOST_FIELDS = 100


@dataclass(frozen=True)
class Asked:
    """The values of a request; those that are empty were left out.

    Attributes:
        values: the last value of each name.
        lists: all values of each name.
    """

    values: Mapping[str, str]
    lists: Mapping[str, list[str]]

    @classmethod
    def parsed(cls, query: str) -> Asked:
        """Return the values of a query, or of the body of a form."""
        lists: dict[str, list[str]] = {}
        try:
            fields = parse_qsl(query, max_num_fields=_MOST_FIELDS)
        except ValueError:
            raise ProblemError(422, "the form has too many fields", hint="Open the page and send its form.") from None
        for name, value in fields:
            if "\0" in value:
                raise _refused(name, "holds the character NUL", "Leave the character out.")
            lists.setdefault(name, []).append(value.replace("\r\n", "\n"))
        return cls({name: values[-1] for name, values in lists.items()}, lists)

    def text(self, name: str) -> str | None:
        """Return a text, None where it was left out or is blank."""
        value = self.values.get(name, "")
        return value if value.strip() else None

    def needed(self, name: str) -> str:
        """Return a text that may not be left out."""
        value = self.text(name)
        if value is None:
            raise _refused(name, "is missing", "Go back to the list of users and follow its links.")
        return value

    def number(self, name: str, least: int = 0, most: int = _MOST) -> int | None:
        """Return a whole number, None where it was left out."""
        value = self.text(name)
        if value is None:
            return None
        try:
            number = int(value)
        except ValueError:
            raise _refused(name, "is no whole number", "Write digits only.") from None
        if not least <= number <= most:
            raise _refused(name, f"is not between {least} and {most}", "Choose a number between them.")
        return number

    def uuid(self, name: str) -> UUID:
        """Return the id of a memory."""
        try:
            return UUID(self.needed(name))
        except ValueError:
            raise _refused(name, "is no UUID", "Follow the links of the list of memories.") from None

    def day(self, name: str) -> datetime | None:
        """Return the end of a day in UTC, None where it was left out."""
        value = self.text(name)
        if value is None:
            return None
        try:
            return datetime.strptime(value, "%Y-%m-%d").replace(hour=23, minute=59, second=59, tzinfo=timezone.utc)
        except ValueError:
            raise _refused(name, "is no day", "Write it as 2026-01-31.") from None

    def has(self, name: str) -> bool:
        """Tell whether a box is ticked."""
        return self.text(name) is not None


def _refused(name: str, problem: str, hint: str) -> ProblemError:
    return ProblemError(422, f"{name}: {problem}", hint=hint, argument=name)
