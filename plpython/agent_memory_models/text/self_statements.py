"""Statements of people about themselves, found by phrase patterns: facts, preferences, and how certain they are.

The patterns know English first-person statements only. The confidence of each pattern is a fixed judgement of how often
such a sentence is a lasting statement about its writer; it is not a measured probability, and none reaches 1.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_SENTENCE_CHARACTERS = 1000
"""A longer "sentence" is pasted text rather than a statement."""


class Pattern(NamedTuple):
    """A phrase, and what a sentence with this phrase is: its type, and confidence and importance from 0 to 1."""

    memory_type: str
    phrase: re.Pattern[str]
    confidence: float
    importance: float


_ADVERBS = (
    r"(?:(?:absolutely|actually|also|always|currently|definitely|especially|generally|honestly|just|mainly|mostly|much"
    r"|never|no longer|normally|now|often|only|originally|particularly|personally|really|simply|sometimes|still"
    r"|strongly|totally|truly|typically|usually) )*"
)
_I_AM = r"\bI(?: am|['’]m) "

# Words after "I am" in a sentence that tells a mood, a plan, a place or a politeness and no fact.
_PASSING = (
    rf"{_ADVERBS}(?:(?:a bit|a little|all|almost|already|as|even|finally|kind of|kinda|more|not|pretty|quite|so|sort of"
    r"|super|too|very) )*"
    r"(?:able|about|afraid|all|alone|alright|amazed|annoyed|anxious|asking|assuming|at|away|aware|back|behind|being"
    r"|blessed|bored|busy|calling|certain|coming|confident|confused|considering|convinced|curious|delighted|determined"
    r"|disappointed|doing|done|down|due|eager|early|ecstatic|enjoying|excited|exhausted|feeling|fine|finished|free"
    r"|frustrated|full of|getting|giving|glad|going|gonna|good|grateful|great|guessing|happy|having|heading|here|home"
    r"|honou?red|hopeful|hoping|hungry|hyped|impressed|in (?:a|another) (?:call|hurry|meeting|rush)|in awe|in for"
    r"|jealous|joking|keeping|keen|kidding|late|leaving"
    r"|listening|looking|lost|loving|lucky|making|nervous|off|ok|okay|on it|on my way|out|over|planning|pleased"
    r"|positive|proud|pumped|putting|ready|relieved|right|sad|saying|scared|seeing|sleepy|so|sorry|starting|staying"
    r"|stoked|stuck|supposed|sure|surprised|taking|talking|thankful|there|thinking|thrilled|tired|to|trying|unable"
    r"|unsure|up|upset|using|waiting|well|wondering|worried|wrong)\b"
)

_HAVE = rf"\b(?:I|we)(?:['’]ve| have)? {_ADVERBS}(?:have |got |have got |do(?: not|n['’]t) have )"
_SOME = r"(?:an?|any|no|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,2})"
_RELATIVE = (
    r"(?:wife|husband|spouse|partner|fianc[ée]e?|girlfriend|boyfriend|son|daughter|kids?|child|children|baby|twins|mother"
    r"|mom|mum|father|dad|parents|brother|sister|siblings?|grandmother|grandfather|dog|cat|pet|horse|rabbit)"
)
_ILLNESS = r"(?:allergy|allergies|intolerance|asthma|diabetes|epilepsy|migraines|adhd|dyslexia|c(?:o|oe)eliac disease)"
# "Tomorrow" in "call me Tomorrow", and what else stands there with a capital letter and is no name.
_NO_NAME = (
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Tomorrow|Today|Tonight|Later|Back|When|If|Maybe|On|At|In|A|An|The"
)

_PATTERNS = tuple(
    Pattern(memory_type, re.compile(phrase, re.IGNORECASE), confidence, importance)
    for memory_type, phrase, confidence, importance in (
        # An object must follow, and not a pronoun: "I like it" says nothing without the sentence before.
        (
            "preference",
            rf"\bI {_ADVERBS}(?:do(?: not|n['’]t) {_ADVERBS}(?:like|enjoy)|can(?:['’]t|not) stand|like|prefer|enjoy"
            r"|love|dislike|hate) (?!(?:it|that|this|them|these|those|you|your|how)\b)\w",
            0.7,
            0.6,
        ),
        ("preference", r"\bmy (?:[\w-]+ ){0,2}favou?rites?\b", 0.8, 0.6),
        # What somebody asks to remember is kept, whatever it is about.
        (
            "fact",
            r"^(?:(?:also|and|hey|ok(?:ay)?|please|so),? )*(?:remember|note|keep in mind|do(?: not|n['’]t) forget)"
            r"(?:,? please)?(?: that|:) (?!(?:day|night|one|song|thing|time|movie|film|book|guy|when)\b)\w",
            0.8,
            0.8,
        ),
        ("fact", r"\bmy name(?: is|['’]s)\b", 0.95, 0.9),
        (
            "fact",
            rf"(?:^|(?<=, )|(?<=; )|(?<=and ))(?:(?:please|just|so|but|you can|everyone|my friends) )*calls? me "
            rf"(?!(?:{_NO_NAME})\b)(?-i:[A-ZÀ-Þ]\w*[a-zß-ÿ]\w*)(?= ?(?:[^\w\s]|$))",
            0.85,
            0.8,
        ),
        (
            "fact",
            rf"\b(?:I|we)(?:['’]ve| have)? {_ADVERBS}(?:recently )?(?:moved|relocated) (?:back )?to "
            r"(?:the (?-i:[A-Z])|(?!(?:an?|the|my|our|your|his|her|their|its?|this|that|another|next|using)\b)\w)",
            0.75,
            0.7,
        ),
        (
            "fact",
            rf"\bI(?:['’]ve| have)? {_ADVERBS}(?:recently )?(?:(?:started|got|took|found|accepted) "
            r"(?:working|an? (?:new )?job)|changed jobs|(?:quit|left|lost|changed) my job)\b",
            0.75,
            0.7,
        ),
        ("fact", rf"\bI (?:was (?:born|raised)|{_ADVERBS}grew up|come) (?:and raised )?(?:in|on|from)\b", 0.85, 0.6),
        ("fact", rf"{_HAVE}{_SOME} (?:[\w-]+ ){{0,3}}?(?:{_RELATIVE}s?|{_ILLNESS})\b", 0.75, 0.7),
        ("fact", rf"{_HAVE}(?:[\w-]+ ){{0,2}}?(?:{_ILLNESS}|kids|children|twins|pets)\b", 0.75, 0.7),
        ("fact", r"\bI(?: was|['’]ve been| have been) diagnosed with\b", 0.8, 0.8),
        (
            "fact",
            rf"\b(?:my|our) (?:[\w-]+ )?{_RELATIVE}(?:['’]s? (?:names?|birthday) (?:is|are)"
            r"| (?:is|are) (?:called|named|\d{1,3}(?: years old)?\b)| (?:works|lives) (?:as|at|for|in|near|on))\b",
            0.8,
            0.7,
        ),
        (
            "fact",
            r"\bmy (?:birthday|anniversary|time ?zone|mother tongue|(?:native|first) language|e-?mail(?: address)?"
            r"|(?:phone|mobile) number|home ?town|pronouns|blood type)(?: is|['’]s| are)\b",
            0.85,
            0.7,
        ),
        ("fact", rf"\bI {_ADVERBS}speak (?:(?:fluent|some|a (?:bit of|little)) )?(?-i:[A-Z])\w", 0.8, 0.5),
        ("fact", rf"\bI {_ADVERBS}(?:own|drive) {_SOME} \w", 0.7, 0.5),
        (
            "fact",
            rf"\bI {_ADVERBS}(?:study|studied|majored in) (?!(?:it|that|this|them|these|those|the|how)\b)\w",
            0.7,
            0.6,
        ),
        (
            "fact",
            rf"\bI {_ADVERBS}play (?:the )?(?:piano|guitar|violin|cello|bass|drums|chess|football|soccer|tennis)\b",
            0.7,
            0.5,
        ),
        ("fact", rf"\bI {_ADVERBS}use (?:an? )?(?-i:[A-Z])\w", 0.6, 0.5),
        # A habit, with a word that says how constant, or one that says never.
        (
            "preference",
            r"\bI (?:do(?: not|n['’]t)|can(?:not|['’]t| not)|never|no longer|only|always|usually|mostly) "
            r"(?:(?:really|usually|normally|ever) )?(?:eat|drink|smoke|fly|travel|wake up|get up|go to bed)\b"
            r"(?!(?: (?:it|that|this|them|these|those|now|right now|here|there|yet|today|tonight|much|enough)\b))",
            0.65,
            0.6,
        ),
        ("fact", rf"\bI {_ADVERBS}(?:work (?:as|at|for|in)|live (?:at|in|near|on))\b", 0.85, 0.7),
        ("fact", rf"{_I_AM}{_ADVERBS}(?:working (?:as|at|for)|living (?:at|in|near))\b", 0.8, 0.7),
        ("fact", rf"{_I_AM}(?!{_PASSING})(?!{_ADVERBS}\w+ing\b)\w", 0.6, 0.5),
        # "I'm learning Spanish": true for a while.
        ("fact", rf"{_I_AM}(?!{_PASSING}){_ADVERBS}\w+ing\b", 0.4, 0.3),
    )
)

# A clause that begins like this asks, supposes, compares or reports: "if I am late", "do I like", "she said I am late".
_NOT_A_STATEMENT = re.compile(
    r"\b(?:if|unless|whether|when|whenever|until|suppose|supposing|imagine|pretend|assuming|wish|what|where|who|whom"
    r"|which|how|why)\b"
    r"|(?<!\bI )\b(?:say|says|said|saying|tells?|told|asks?|asked|claims?|claimed|thinks|thought|wrote|writes)\b"
    r"|\b(?:am|do|does|did|can|could|will|would|shall|should|may|might|must|as|than|like) $"
    r"|^ *(?:is|are|was|were) $",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"(?<!\bI )\b(?:say|says|said|tells?|told|asks?|asked|writes?|wrote|repl(?:y|ies|ied))\b[^.:]{0,30}: ?$", re.I
)
"""What ends like this reports what somebody else said: "The client said: I prefer tea"."""
_CLAUSE_END = re.compile(r"[,;:—–]| - | but ")


def classify(sentence: str) -> Pattern | None:
    """The pattern whose phrase comes first in the sentence, or None when the sentence states nothing lasting."""
    if len(sentence) > MAX_SENTENCE_CHARACTERS or sentence.rstrip("\"'”’)] ").endswith(("?", "？")):
        return None
    found = [
        (match.start(), order)
        for order, pattern in enumerate(_PATTERNS)
        for match in pattern.phrase.finditer(sentence)
        if _is_stated(sentence[: match.start()])
    ]
    return _PATTERNS[min(found)[1]] if found else None


def _is_stated(before: str) -> bool:
    """Whether a phrase that stands behind `before` is the writer's own statement."""
    if _REPORTED.search(before) or before.count('"') % 2 or before.count("“") > before.count("”"):
        return False
    return _NOT_A_STATEMENT.search(_CLAUSE_END.split(before)[-1]) is None
