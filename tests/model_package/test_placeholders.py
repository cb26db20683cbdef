"""Summaries that quote keep placeholders whole."""

from __future__ import annotations

import pytest
from agent_memory_models.text.extracts import MAX_SENTENCE_CHARACTERS, shortened
from agent_memory_models.text.sentences import split_sentences

REF = "[MemoryRef: make-2 - make failed. Error 1! see a.c? yes - 2340 tokens]"


@pytest.mark.feature("C16")
def test_a_description_with_full_stops_does_not_end_a_sentence() -> None:
    assert split_sentences(f"I ran it. See {REF}. It is odd.") == ["I ran it.", f"See {REF}.", "It is odd."]
    assert len(split_sentences("[MemoryRef: a - " + "One. " * 100_000)) > 10_000


@pytest.mark.feature("C16")
@pytest.mark.parametrize("before", range(120, MAX_SENTENCE_CHARACTERS + 20, 7))
def test_a_placeholder_at_the_cut_keeps_its_key(before: int) -> None:
    text = shortened("x" * before + f" {REF} " + "y" * 200)
    assert ("[MemoryRef: make-2]" in text or REF in text) == (before < MAX_SENTENCE_CHARACTERS - 13)
