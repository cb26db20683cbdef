"""The date that a sentence states, without a model: "yesterday", "3 weeks ago", "next month", "since 2019".

English only. Of a week, a month or a year it is the first day; weeks begin on Monday.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

_COUNTED = "one two three four five six seven eight nine ten"
_NUMBERS = {"a": 1, "an": 1, **{word: number for number, word in enumerate(_COUNTED.split(), start=1)}}
_AMOUNT = rf"(?P<amount>\d{{1,3}}|{'|'.join(_NUMBERS)}) (?P<unit>day|week|month|year)s?"
_DAYS = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "today": 0,
    "tonight": 0,
    "tomorrow": 1,
    "the day after tomorrow": 2,
}
_WHICH = {"last": -1, "this": 0, "next": 1}


def _shifted(day: date, unit: str, amount: int) -> date:
    """The day that is ``amount`` units later; the last day of a month that is shorter."""
    if unit in ("day", "week"):
        return day + timedelta(days=amount * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 + amount * (12 if unit == "year" else 1)
    first = date(months // 12, months % 12 + 1, 1)
    following = date((months + 1) // 12, (months + 1) % 12 + 1, 1)
    return first.replace(day=min(day.day, (following - first).days))


def _first_day(day: date, unit: str) -> date:
    if unit == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if unit == "month" else day.replace(month=1, day=1)


def _amount(match: re.Match[str]) -> int:
    return _NUMBERS.get(match["amount"]) or int(match["amount"])


_EXPRESSIONS: tuple[tuple[str, Callable[[re.Match[str], date], date]], ...] = (
    (r"\d{4}-\d\d-\d\d", lambda match, _: date.fromisoformat(match[0])),
    ("|".join(sorted(_DAYS, key=len, reverse=True)), lambda match, day: day + timedelta(days=_DAYS[match[0]])),
    (rf"{_AMOUNT} ago", lambda match, day: _shifted(day, match["unit"], -_amount(match))),
    (rf"in {_AMOUNT}(?! of\b)", lambda match, day: _shifted(day, match["unit"], _amount(match))),
    (  # "the last week" is a length of time
        rf"(?<!the )(?P<which>{'|'.join(_WHICH)}) (?P<unit>week|month|year)",
        lambda match, day: _shifted(_first_day(day, match["unit"]), match["unit"], _WHICH[match["which"]]),
    ),
    (r"(?:in|since) (?P<year>(?:19|20)\d\d)", lambda match, _: date(int(match["year"]), 1, 1)),
)
_PATTERNS = tuple((re.compile(rf"(?<![\w-])(?:{text})(?![\w-])"), resolve) for text, resolve in _EXPRESSIONS)


def event_date(sentence: str, said_at: str) -> str | None:
    """The ISO date that a sentence states, seen from the ISO time it was said; None unless it states exactly one."""
    try:
        day = date.fromisoformat(said_at[:10])
        text = sentence.lower()
        found = {resolve(match, day) for pattern, resolve in _PATTERNS for match in pattern.finditer(text)}
    except (ValueError, OverflowError):  # the 30th of February, or a year that the calendar does not have
        return None
    return found.pop().isoformat() if len(found) == 1 else None
