"""The times that a sentence states, without a model: "yesterday", "since May 2019", "until next Friday", "5.5.2024".

`lists/times/<language>.toml` has the words of each language. Days are counted from the day on which something was said.
Of a week, a month or a year the first day counts, or the last one for "until"; weeks begin on Monday.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from functools import cache
from typing import Any, NamedTuple

from .languages.language import entries
from .lists import TIMES

Period = tuple[date, date]
"""The first and the last day."""
_UNITS = ("day", "week", "month", "year")
_SEASON_MONTHS = (3, 6, 9, 12)
_DATE = (
    r"(?P<iso>\d{4}-\d\d-\d\d)",
    r"(?P<numbers>\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d\d))",
)


class Time(NamedTuple):
    """A time in a text.

    Attributes:
        start: where it begins, with its preposition.
        bare: where it begins without the preposition.
        end: where it ends.
        kind: on, since, until, by, or for, of which only the length is told ("for two years").
        past: the days, if the text speaks of what was.
        future: the days, if it speaks of what will be: the next Friday for "on Friday".
    """

    start: int
    bare: int
    end: int
    kind: str
    past: Period
    future: Period

    @property
    def is_told(self) -> bool:
        """Whether the days do not depend on what the text speaks of."""
        return self.past == self.future


def times_in(text: str, day: date, language: str) -> list[Time]:
    """The times that a text states in a language (`en`), seen from a day, in their order."""
    reader = _reader(language)
    if not reader.may_have_times(text):
        return []
    try:
        found = sorted(reader.read(text.lower(), day), key=lambda time: (time.start, -time.end))
    except (ValueError, OverflowError, IndexError, StopIteration):
        return []  # the 30th of February, a year that the calendar does not have, or 5/6/2024, which may be June or May
    kept: list[Time] = []
    for time in found:
        if not kept or time.start >= kept[-1].end:
            kept.append(time)
    return kept


def event_date(sentence: str, said_at: str, language: str = "en") -> str | None:
    """The ISO date that a sentence states, seen from the ISO time it was said; None unless it states exactly one."""
    if (day := day_of(said_at)) is None or language not in TIMES:
        return None
    found = {time.past[0] for time in times_in(sentence, day, language) if time.is_told and time.kind != "for"}
    return found.pop().isoformat() if len(found) == 1 else None


def day_of(said_at: str) -> date | None:
    """The speaker's day, which an ISO time begins with."""
    try:
        return date.fromisoformat(said_at[:10])
    except ValueError:
        return None


def shifted(day: date, unit: str, amount: int) -> date:
    """The day that is ``amount`` units later; the last day of a month that is shorter."""
    if unit in ("day", "week"):
        return day + timedelta(days=amount * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 + amount * (12 if unit == "year" else 1)
    first = date(months // 12, months % 12 + 1, 1)
    return first.replace(day=min(day.day, _month(first.year, first.month)[1].day))


def _month(year: int, month: int, months: int = 1) -> Period:
    first = date(year, month, 1)
    after = year * 12 + month - 1 + months
    return first, date(after // 12, after % 12 + 1, 1) - timedelta(days=1)


def _unit(day: date, unit: str, amount: int) -> Period:
    """The week, month or year that is ``amount`` after that of a day."""
    if unit == "day":
        return (shifted(day, unit, amount),) * 2
    if unit == "week":
        first = day - timedelta(days=day.weekday() - 7 * amount)
        return first, first + timedelta(days=6)
    at = shifted(day.replace(day=1), unit, amount)
    return _month(at.year, at.month) if unit == "month" else (date(at.year, 1, 1), date(at.year, 12, 31))


def _nearest(day: date, of_year: Callable[[int], Period]) -> tuple[Period, Period]:
    """Of a time that recurs each year the latest that has begun and the next that has not ended."""
    years = [of_year(year) for year in range(day.year - 1, day.year + 2)]
    return [years for years in years if years[0] <= day][-1], next(years for years in years if years[1] >= day)


class _Reader:
    """The expressions of one language."""

    def __init__(self, language: str) -> None:
        lists: dict[str, Any] = TIMES[language]
        self.numbers = _spelt(lists["numbers"], first=1)
        self.months = _spelt(lists["months"], first=1)
        self.weekdays = _spelt(lists["weekdays"])
        self.seasons = _spelt(lists["seasons"])
        self.units = _spelt(lists["units"])
        self.days = lists["days"]
        self.month_first = lists.get("month_first", False)
        words = lists["words"]
        slots = {
            "{n}": rf"(?P<n>\d{{1,3}}|{_any(self.numbers)})",
            "{unit}": rf"(?P<unit>{_any(self.units)})",
            "{of}": rf"(?P<of>{_any([*self.units, *self.weekdays, *self.months, *self.seasons])})",
        }
        prefixes = "|".join(rf"(?P<{kind}>{_any(entries(words[kind]))})" for kind in ("since", "until", "by", "on"))
        prefix = rf"(?:(?:{prefixes})(?: |(?<=['’])))"
        of = rf"(?: (?:{_any(entries(words['of']))}))?"
        year = r"(?P<year>(?:19|20)\d\d)"
        ordinal = _any([".", *entries(words["ordinal"])])
        date_day = rf"(?P<day>\d{{1,2}})(?:{ordinal})?"
        month = rf"(?P<month>{_any(self.months)})(?:\.(?= \d))?"
        season = rf"(?P<season>{_any(self.seasons)})"
        dates = [*_DATE, rf"{date_day}{of} {month}(?:,?{of} {year})?", rf"(?:{month}|{season}){of} {year}"]
        if self.month_first:
            dates.insert(2, rf"{month} (?:the )?{date_day}(?:,? {year})?")
        weekday = rf"(?P<weekday>{_any(self.weekdays)})"
        relative = [
            (kind, _filled(phrase, slots)) for kind, text in lists["relative"].items() for phrase in entries(text)
        ]
        self.patterns = [
            (kind, re.compile(rf"(?<![\w-]){prefix}{needed}(?:{text})(?![\w-])"))
            for kind, needed, text in (
                *((kind, "?", text) for kind, text in relative),
                *(("numbers", "?", text) for text in dates),
                ("days", "?", rf"(?P<days>{_any(self.days)})"),
                ("date", "", rf"{month}|{season}|{year}"),
                ("date", "?", weekday),
            )
        ]
        told = [*self.numbers, *self.months, *self.weekdays, *self.seasons, *self.units, *self.days]
        self.telling = {word for phrase in told for word in phrase.split()}

    def may_have_times(self, text: str) -> bool:
        return any(mark.isdigit() for mark in text) or not self.telling.isdisjoint(re.findall(r"\w+", text.lower()))

    def read(self, text: str, day: date) -> Iterator[Time]:
        has_digits = any(map(str.isdigit, text))
        for kind, pattern in self.patterns:
            if kind == "numbers" and not has_digits:
                continue
            for match in pattern.finditer(text):
                groups = {name: value for name, value in match.groupdict().items() if value}
                preposition = next((name for name in ("since", "until", "by") if name in groups), "on")
                past, future = self._days(kind, groups, day)
                if kind == "lasting":
                    preposition = "for"
                bare = match.end(preposition) if groups.get(preposition) else match.start()
                bare += text[bare : bare + 1] == " "
                yield Time(match.start(), bare, match.end(), preposition, past, future)

    def _days(self, kind: str, groups: dict[str, str], day: date) -> tuple[Period, Period]:
        if kind in ("ago", "ahead", "lasting"):
            amount = self.numbers.get(groups.get("n", "")) or int(groups.get("n", 1))
            at = shifted(day, _UNITS[self.units[groups["unit"]]], amount if kind == "ahead" else -amount)
            return ((at, at),) * 2
        if kind in ("last", "this", "next"):
            return (self._which(groups["of"], day, ("last", "this", "next").index(kind) - 1),) * 2
        if kind == "days":
            at = day + timedelta(days=self.days[groups["days"]])
            return ((at, at),) * 2
        return self._date(groups, day)

    def _date(self, groups: dict[str, str], day: date) -> tuple[Period, Period]:
        if "iso" in groups:
            return ((date.fromisoformat(groups["iso"]),) * 2,) * 2
        if "numbers" in groups:
            first, second, year = (int(part) for part in re.split(r"[./-]", groups["numbers"]))
            if (self.month_first and "/" in groups["numbers"] and second > 12) or second > 12:
                first, second = second, first
            elif self.month_first and "/" in groups["numbers"] and first <= 12 and first != second:
                raise ValueError  # the fifth of June or the sixth of May
            return ((date(year + 2000 * (year < 100), second, first),) * 2,) * 2
        if "weekday" in groups:
            back = (day.weekday() - self.weekdays[groups["weekday"]]) % 7
            last, following = day - timedelta(days=back or 7), day + timedelta(days=(7 - back) % 7 or 7)
            return (last, last), (following, following)
        if "season" in groups:
            begins = _SEASON_MONTHS[self.seasons[groups["season"]]]
            return self._of_year(groups, day, lambda year: _month(year, begins, 3))
        if "day" in groups:
            month, number = self.months[groups["month"]], int(groups["day"])
            if "year" not in groups and (month, number) == (2, 29):
                raise ValueError
            return self._of_year(groups, day, lambda year: (date(year, month, number),) * 2)
        if "month" in groups:
            return self._of_year(groups, day, lambda year: _month(year, self.months[groups["month"]]))
        return ((date(int(groups["year"]), 1, 1), date(int(groups["year"]), 12, 31)),) * 2

    @staticmethod
    def _of_year(groups: dict[str, str], day: date, of_year: Callable[[int], Period]) -> tuple[Period, Period]:
        return (of_year(int(groups["year"])),) * 2 if "year" in groups else _nearest(day, of_year)

    def _which(self, of: str, day: date, which: int) -> Period:
        """The last, this or the next week, Monday, May or summer."""
        if of in self.units:
            return _unit(day, _UNITS[self.units[of]], which)
        if of in self.weekdays:
            ahead = (self.weekdays[of] - day.weekday()) % 7
            at = day + timedelta(days=(ahead - 7) if which < 0 else ahead or 7)
            return at, at
        month, months = (self.months[of], 1) if of in self.months else (_SEASON_MONTHS[self.seasons[of]], 3)
        past, future = _nearest(day, lambda year: _month(year, month, months))
        if which == 0:
            return _month(day.year, month, months)
        if past == future:  # it is May, and "last May" is that of the year before
            return _month(day.year + which, month, months)
        return past if which < 0 else future


@cache
def _reader(language: str) -> _Reader:
    return _Reader(language)


def _spelt(text: str, first: int = 0) -> dict[str, int]:
    """The number of each entry, whose spellings have slashes between them."""
    return {word.strip(): number for number, entry in enumerate(entries(text), first) for word in entry.split("/")}


def _any(words: Any) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


def _filled(phrase: str, slots: dict[str, str]) -> str:
    for name, pattern in slots.items():
        phrase = phrase.replace(name, pattern)
    return phrase
