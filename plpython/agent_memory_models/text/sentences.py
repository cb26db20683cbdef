"""Splits the text of a chat message into its sentences.

pysbd knows one language at a time and no placeholders, takes twenty times as long, and cuts "am 3. Mai" (2026-11).
"""

from __future__ import annotations

import re

# A message may be megabytes long: each pattern here works in linear time.
PLACEHOLDER = re.compile(r"\[MemoryRef: ([A-Za-z0-9._:/@#=+-]+)(?: - [^\[\]]{0,600})?\]")
_CODE_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LIST_MARK = re.compile(r"^(?:[-*•]|\d{1,3}[.)]) ")
_MONTH = (
    r"(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Stock|Klasse|Semester)\b"
)
"""What follows a German number with a full stop, such as "der 3. Mai"."""
_BOUNDARY = re.compile(rf"(?<=[.!?…])(?!(?<=\d\.) {_MONTH}) |(?<=[.!?…][\"'”’)\]]) |(?<=[。！？])")
_WORD = re.compile(r"\w")
_ENDS_IN_ABBREVIATION = re.compile(
    r"(?:^|[ (\"'])(?:mr|mrs|ms|dr|prof|st|vs|approx|dept|fig|bzw|ca|evtl|inkl|sra?|dra|mme|mlle|sig|dott|nr|núm"
    r"|[a-hj-z]|(?:[a-z]\.)+[a-z])\.$",
    re.IGNORECASE,
)
_OPEN_PLACEHOLDER = re.compile(r"\[MemoryRef: [^\[\]]*$")
"""The description of an artifact, which may hold the end of a sentence."""
_MAX_PLACEHOLDER_CHARACTERS = 800


def split_sentences(text: str) -> list[str]:
    """The sentences of `text` in order, as written except that runs of white space become one space.

    A line break ends a sentence and list marks are taken off. Code blocks and quoted lines (`> `) are left out:
    their words are seldom the writer's own.
    """
    sentences: list[str] = []
    for line in _CODE_BLOCK.sub("\n", text).splitlines():
        line = " ".join(line.split())
        if line.startswith(">"):
            continue
        pieces: list[str] = []
        for piece in _BOUNDARY.split(_LIST_MARK.sub("", line)):
            pieces.append(piece)
            is_open = _OPEN_PLACEHOLDER.search(" ".join(pieces[-9:])[-_MAX_PLACEHOLDER_CHARACTERS:])
            if not _ENDS_IN_ABBREVIATION.search(piece[-16:]) and not (is_open and len(pieces) < 9):
                sentences.append(" ".join(pieces))
                pieces.clear()
        sentences.append(" ".join(pieces))
    return [sentence for sentence in sentences if _WORD.search(sentence)]
