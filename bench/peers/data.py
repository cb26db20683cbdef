"""The texts that all stores hold, and those that are added and asked for. All processes make the same."""

from __future__ import annotations

import random

from bench.support.texts import texts as samples

DIMENSIONS = 384
BIG = "big"
"""The user that is searched: an index over all users has to find its texts among those of the others."""
SMALL = [f"small{number:02}" for number in range(30)]
"""Names of one length: LangGraph's store takes a name for the beginning of longer ones."""
DOOMED = [f"doomed{number}" for number in range(4)]
"""Users whose texts are deleted, one for each client."""
COUNTS = {BIG: 1000, **dict.fromkeys(SMALL, 100), **dict.fromkeys(DOOMED, 200)}


def sentence(rng: random.Random) -> str:
    """A text that nobody has said before."""
    return f"{samples(1, rng.getrandbits(64))[0]} ({rng.randrange(10**9)})"


def query(rng: random.Random) -> str:
    """A question of a dozen words that nobody has asked before."""
    return " ".join(sentence(rng).split()[:12])


def texts(user: str) -> list[str]:
    """What is stored about a user."""
    rng = random.Random(user)
    return [sentence(rng) for _ in range(COUNTS[user])]


def common_query(rng: random.Random) -> str:
    """One of twenty questions, which come again and again."""
    return query(random.Random(rng.randrange(20)))


def queries() -> list[tuple[str, str]]:
    """Users and queries by which the found texts are compared with the nearest ones."""
    return [(BIG if number % 2 else SMALL[0], f"a question of kind {number}") for number in range(60)]
