"""Message and memory texts for the benchmark: varied, repeatable, made from a fixed seed."""

from __future__ import annotations

import json
import random

SHORTEST, LONGEST = 40, 600
WORDS = [f"{random.Random(n).choice(['', 're', 'un'])}w{n:x}".ljust(4 + n % 6, "o") for n in range(8000)]
FREQUENCIES = [1 / (n + 10) for n in range(8000)]
"""Made-up words, and how often each comes, as in a language."""

_SUBJECTS = (
    "I", "we", "my manager", "the new intern", "our billing service", "the nightly export", "my sister Clara",
    "the customer in Lyon", "the staging cluster", "the Android app", "her team", "the landlord", "our dentist",
    "the search page", "the finance department", "a colleague from Osaka", "the second invoice", "the tax advisor",
)  # fmt: skip
_VERBS = (
    "prefers", "moved to", "cannot open", "is waiting for", "forgot about", "wants to replace", "asked for", "booked",
    "has cancelled", "is allergic to", "fails on", "compared", "wrote about", "rescheduled", "is learning", "paid for",
    "complained about", "tested", "depends on", "stopped using", "recommends",
)  # fmt: skip
_OBJECTS = (
    "the blue theme", "a smaller flat near the station", "the quarterly report", "peanuts and shellfish",
    "the 07:45 train to Basel", "version 3.2 of the client", "dark roast coffee", "a refund of 129.90 EUR",
    "the foreign key on orders", "the piano lessons on Thursday", "two tickets for the museum", "German grammar",
    "an answer before Friday", "the retry policy", "the long log of the failed job", "a window seat",
    "the second factor login", "Postgres instead of the old store", "hiking in the Dolomites", "the standing desk",
)  # fmt: skip
_TAILS = (
    "", "", " because it is cheaper", " as we said last week", " and would like to know why",
    " unless something changes", " although nobody asked", " for the third time this month",
    " but only on weekends", " so please remember that",
)  # fmt: skip


def _sentence(rng: random.Random) -> str:
    words = f"{rng.choice(_SUBJECTS)} {rng.choice(_VERBS)} {rng.choice(_OBJECTS)}{rng.choice(_TAILS)}"
    return words[0].upper() + words[1:] + rng.choice("..?!")


def texts(count: int, seed: int = 1) -> list[str]:
    """``count`` texts of 40 to 600 characters, short ones more frequent as in chat; the same for the same seed."""
    rng = random.Random(seed)
    result = []
    for _ in range(count):
        length = round(SHORTEST + (LONGEST - SHORTEST) * rng.random() ** 2)
        text = _sentence(rng)
        while len(text) < length:
            text += " " + _sentence(rng)
        result.append(text[:LONGEST])
    return result


def conversation(messages: int, seed: int = 1) -> str:
    """A JSON array of OpenAI chat messages, user and assistant in turn."""
    return json.dumps(
        [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts(messages, seed))]
    )
