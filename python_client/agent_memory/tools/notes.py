"""What a model is told when an answer is less than it could be."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import DegradedWarning

_BY_WORDS = (
    "Only words were compared, not meanings, so what says the same in other words is missing: search again with other "
    "words before you conclude that nothing is stored."
)
_NOTES = {
    "01AM1": _BY_WORDS,
    "01AM2": _BY_WORDS,
    "01AM3": _BY_WORDS,
    "01AM4": "Earlier conversations were compared by words only: call search if something from them is missing.",
    "01AM5": "The results are in a less exact order than usual.",
    "01AM6": "Something did not fit into the budget: raise max_tokens if something is missing.",
    "01AM7": "Of texts that were stored a moment ago, not all words were compared.",
}
"""What each cause means for a model. The hint of the warning is for the operator, who can remove the cause."""


def note_of(causes: Sequence[DegradedWarning]) -> str | None:
    """Return what a model is told of the causes that degrade an answer, each once; None where there are none."""
    notes = dict.fromkeys(_NOTES.get(cause.sqlstate or "", f"{cause.message}.") for cause in causes)
    return " ".join(notes) or None
