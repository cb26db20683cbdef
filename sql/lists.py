"""The lists of words in lists/ as literals for SQL and as a module for Python. A list is data: words by language."""

from __future__ import annotations

import functools
import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import tomllib  # type: ignore[import-not-found, unused-ignore]  # of Python 3.11

LISTS = Path(__file__).resolve().parent.parent / "lists"
MADE = ("dates", "date_signs", "month_names", "known_models")
LIST = re.compile(r"\{\{list (\w+)(?: (\w+))?\}\}")
PATTERN = re.compile(r"\{\{pattern (\w+) (\w+)\}\}")
ROWS = re.compile(r"\{\{rows (\w+): ([\w, ]+)\}\}")
SIGNS = re.compile(r"\{\{signs (\w+)\}\}")
PART = re.compile(r"\{([a-z_]+)\}")  # of a pattern: the name of another pattern of the list
URL = r"(?:https?://|www[.]|[a-z0-9._-]+@)[^\s]*"
WITHOUT_BLANKS = ("ja", "zh")  # languages that put no blanks between words


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def with_lists(text: str) -> str:
    """The text with the words of each ``{{list name}}``.

    A list ``name.txt`` becomes a text of words with blanks between. A list ``name.toml`` becomes a JSON object that has
    for each phrase the names under which the list has it, in any language; ``{{list name key}}`` becomes one that has
    for each name that has this key its value. The names of MADE become what the functions of these names return.
    ``{{pattern name key}}`` becomes the regular expression of a key, and ``{{rows name: a, b}}`` these fields of all
    its [[form]] as the rows of a VALUES list. ``{{signs certain}}``, ``{{signs likely}}`` and ``{{signs phrases}}``
    become rows of signs of attacks with their expressions.
    """
    text = LIST.sub(lambda match: literal(values(*match.groups()) if match[2] else words(match[1])), text)
    text = PATTERN.sub(lambda match: expression(pattern(match[1], toml(match[1])[match[2]])), text)
    text = ROWS.sub(lambda match: rows(match[1], match[2].split(", ")), text)
    return SIGNS.sub(lambda match: ",\n      ".join(f"({', '.join(row)})" for row in signs(match[1])), text)


def expression(pattern: str) -> str:
    """A regular expression as a literal that every session and every encoding of a database reads."""
    escaped = "".join(
        letter if letter.isascii() else f"\\u{ord(letter):04x}" if ord(letter) < 0x10000 else f"\\U{ord(letter):08x}"
        for letter in pattern
    )
    return "e'" + escaped.replace("\\", "\\\\").replace("'", "''").replace("\n", "\\n") + "'"


def pattern(name: str, given: str) -> str:
    """A pattern of a list with the list's other patterns in place of their names in braces."""
    named = toml(name)
    while PART.search(given):
        given = PART.sub(lambda match: named[match[1]], given)
    return given


def rows(name: str, fields: list[str]) -> str:
    forms = ([pattern(name, form.get(field, "")) for field in fields] for form in toml(name)["form"])
    return ",\n      ".join(f"({', '.join(map(expression, form))})" for form in forms)


def signs(kind: str) -> list[tuple[str, ...]]:
    """Each sign of a kind with its expression; a sign of phrases has those of all languages.

    Between them a sign of phrases has the tsquery that each text with one of the phrases matches; null for languages
    without blanks.
    """
    if kind != "phrases":
        return [(literal(sign), expression(found)) for sign, found in toml("signs")[kind].items()]
    found: dict[tuple[bool, str], list[tuple[str, str]]] = {}
    for path in sorted((LISTS / "signs").glob("*.toml")):
        has_blanks = path.stem not in WITHOUT_BLANKS
        for sign, phrases in toml(f"signs/{path.stem}").items():
            found.setdefault((has_blanks, sign), []).extend(
                (phrase_query(phrase) if has_blanks else "", phrase_pattern(phrase, path.stem)) for phrase in phrases
            )
    return [
        (
            literal(sign),
            literal(" | ".join(query for query, _ in of_sign)) + "::tsquery" if has_blanks else "null",
            expression("|".join(pattern for _, pattern in of_sign)),
        )
        for (has_blanks, sign), of_sign in sorted(found.items(), reverse=True)
    ]


def phrase_query(phrase: str) -> str:
    """The words that every text with a phrase has: of its two places with the longest words, one word each."""
    places = [token.split("/") for token in phrase.split() if re.fullmatch(r"(?:\w+\*?/)*\w+\*?", token)]
    places = [place for place in places if place != ["URL"]]
    if not places:
        raise SystemExit(f"lists/signs: no place of the phrase has plain words alone: {phrase}")
    rarest = sorted(places, key=lambda place: -min(len(word.rstrip("*")) for word in place))[:2]
    return " & ".join(f"({'|'.join(word.replace('*', ':*') for word in place)})" for place in rarest)


def phrase_pattern(phrase: str, language: str) -> str:
    """The expression of a phrase, as the head of signs/en.toml explains phrases."""
    has_blanks = language not in WITHOUT_BLANKS
    gap = r"\s(?:[^.!?;\n]*\s)?" if has_blanks else "[^\u3002\uff01\uff1f\n]*"
    parts: list[str] = []
    for token in phrase.split():
        if token != "..." and parts and parts[-1] != gap and has_blanks:
            parts.append(r"\s+")
        choices = token.replace("*", r"\w*").replace("URL", URL)
        parts.append(gap if token == "..." else f"(?:{choices.replace('/', '|') if token != 'URL' else URL})")
    if phrase.endswith("URL"):
        parts[-1] = parts[-1].replace(r"[^\s]*", "")
    return "".join(parts) if not has_blanks else r"\m" + "".join(parts) + (r"\M" if not phrase.endswith("URL") else "")


@functools.cache
def words(name: str) -> str:
    if name in MADE:
        return json.dumps(globals()[name](), ensure_ascii=False)
    path = LISTS / f"{name}.txt"
    if path.exists():
        lines = (line for line in path.read_text().splitlines() if not line.startswith("#"))
        return " ".join(dict.fromkeys(" ".join(lines).split()))
    phrases: dict[str, list[str]] = {}
    for entry, found in toml(name).items():
        for phrase in phrases_of(found):
            phrases.setdefault(phrase.lower(), []).append(entry)
    return json.dumps({phrase: sorted(set(entries)) for phrase, entries in sorted(phrases.items())}, ensure_ascii=False)


@functools.cache
def dates() -> dict[str, Any]:
    """The words of lists/times/ by which a query names days, all languages together, without accents.

    Each word has its number or a true; a word of "own" has the language in whose queries alone it counts.
    """
    made: dict[str, dict[str, Any]] = {key: {} for key in ("months", "seasons", "weekdays", "units", "days", "own")}
    plain: dict[str, set[str]] = {key: set() for key in ("last", "this", "on", "unsure", "skipped")}
    phrases: dict[str, str] = {}
    for path in sorted((LISTS / "times").glob("*.toml")):
        times = toml(f"times/{path.stem}")
        search = times.get("search", {})
        phrases |= search.get("phrases", {})
        unsure = entries(search.get("unsure", ""))
        if "months" not in times:
            continue
        for key in ("months", "seasons", "units", "weekdays"):
            for number, listed in enumerate(entries(times[key]), 1):
                forms = listed.split("/")[: 1 if key == "weekdays" else None]
                made[key] |= {
                    form: number for form in forms if key != "months" or len(form) > 3 or form in (forms[0], *unsure)
                }
        made["days"] |= {
            " ".join(re.findall(r"\w+", folded(phrase))): days for phrase, days in times["days"].items() if days < 0
        }
        made["own"] |= dict.fromkeys(entries(search.get("own", "")), search.get("language"))
        for key in ("last", "this"):
            plain[key] |= {*re.findall(r"\w+", re.sub(r"\{\w+\}|\|(?=\|)", " ", folded(times["relative"][key])))}
        plain["on"] |= {
            re.findall(r"\w+", phrase)[-1]
            for phrases_ in (
                *(times["words"][key] for key in ("since", "until", "by", "on", "of")),
                search.get("on", ""),
            )
            for phrase in entries(phrases_)
        }
        for key in ("unsure", "skipped"):
            plain[key] |= {*entries(search.get(key, ""))}
    plain["on"] -= plain["skipped"] | {"as", "to"}
    plain["on"] |= {"of", "de", "del", "di", "van"}
    plain["last"] -= plain["skipped"] | {"this", "na", "no"}
    plain["this"] -= plain["skipped"]
    made["units"] = {word: number for word, number in made["units"].items() if number > 1}  # "this day" is no date
    made["own"] |= {"an": "french"}
    flags = {key: dict.fromkeys(sorted(found), True) for key, found in plain.items()}
    return {**made, **flags, "phrases": sorted(phrases.items(), key=lambda each: (-len(each[0]), each[0]))}


def date_signs() -> dict[str, bool]:
    """The words of dates() one of which a query has if it names a day."""
    found = {word for key in ("months", "seasons", "weekdays", "units") for word in dates()[key]}
    found |= {phrase.split()[-1] for phrase in dates()["days"]} | {"dernier", "passe"}  # of "an", which is English too
    return dict.fromkeys(sorted(found - {"an"}), True)


def month_names() -> dict[str, int]:
    """The numbers of months by their names in other languages than English, as written and without accents.

    A name that is also another word has "in" before it.
    """
    named: dict[str, int] = {}
    for path in sorted((LISTS / "times").glob("*.toml")):
        times = toml(f"times/{path.stem}")
        for number, listed in enumerate(re.split(r",\s*", times.get("months", "")) if path.stem != "en" else [], 1):
            for form in listed.split("/") if listed else []:
                named |= {
                    f"in {each}" if folded(form) in dates()["unsure"] else each: number for each in (form, folded(form))
                }
    return named


def known_models() -> list[dict[str, Any]]:
    """What the database knows of embedding models by their names."""
    wanted = ("name", "nothing_below", "languages")
    known = [{key: found[key] for key in wanted if key in found} for found in toml("models").values()]
    return [each for each in known if len(each) > 1]


def entries(listed: str) -> list[str]:
    """The entries of a list that stands in one text, without accents."""
    return [entry for entry in (each.strip() for each in folded(listed).split(",")) if entry]


def folded(text: str) -> str:
    """As memory._folded() does it."""
    plain = "".join(each for each in unicodedata.normalize("NFD", text.lower()) if not "\u0300" <= each <= "\u036f")
    return unicodedata.normalize("NFC", plain.replace("ß", "ss"))


def values(name: str, key: str) -> str:
    return json.dumps({entry: found[key] for entry, found in toml(name).items() if key in found}, ensure_ascii=False)


@functools.cache
def toml(name: str) -> dict[str, Any]:
    read: dict[str, Any] = tomllib.loads((LISTS / f"{name}.toml").read_text())
    return read


def phrases_of(found: Any) -> list[str]:
    """The phrases of an entry: a list, or a table with a list for each language (two letters)."""
    if isinstance(found, list):
        return [str(phrase) for phrase in found]
    lists = (given for key, given in found.items() if len(key) == 2 and isinstance(given, list))
    return [phrase for given in lists for phrase in phrases_of(given)]


def printed(value: Any, depth: int) -> str:
    """The value as JSON, with a line for each entry down to this depth."""
    if depth == 0:
        value = " ".join(value.split()) if isinstance(value, str) and "\n  " in value else value  # a list over lines
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    rows = (
        f"{json.dumps(key, ensure_ascii=False)}:{printed(entry, depth - 1 if isinstance(entry, dict) else 0)}"
        for key, entry in value.items()
    )
    return "{\n" + ",\n".join(rows) + "}"


def module(*names: str) -> str:
    """Lists, or folders of lists, as a Python module: tomllib needs Python 3.11, the package 3.10.

    The lists are JSON in it: each session of a server compiles what it imports, and reads JSON in a fifth of the time.
    """
    lines = ['"""The lists of lists/, by sql/build.py."""', "", "import json", "from typing import Any"]
    for name in names:
        paths = sorted((LISTS / name).glob("*.toml"))
        value = {path.stem: toml(f"{name}/{path.stem}") for path in paths} if paths else toml(name)
        text = printed(value, 2 if paths else 1)
        assert "'''" not in text, f"lists/{name} has three quotes"
        lines += ["", f"{name.upper()}: dict[str, Any] = json.loads(r'''{text}''')"]
    return "\n".join(lines) + "\n"
