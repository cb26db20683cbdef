"""Summaries that quote keep placeholders whole, and the built-in extraction takes no memory from them."""

from __future__ import annotations

import pytest
from agent_memory_models.jobs.extract_memories import _by_patterns
from agent_memory_models.text.extracts import MAX_SENTENCE_CHARACTERS, shortened
from agent_memory_models.text.sentences import split_sentences

REF = "[MemoryRef: make-2 - make failed. Error 1! see a.c? yes - 2340 tokens]"


@pytest.mark.feature("C15")
def test_a_description_with_full_stops_does_not_end_a_sentence() -> None:
    assert split_sentences(f"I ran it. See {REF}. It is odd.") == ["I ran it.", f"See {REF}.", "It is odd."]
    assert len(split_sentences("[MemoryRef: a - " + "One. " * 100_000)) > 10_000


@pytest.mark.feature("C15")
def test_a_placeholder_at_the_cut_keeps_its_key() -> None:
    for before in range(120, MAX_SENTENCE_CHARACTERS + 20, 7):
        text = shortened("x" * before + f" {REF} " + "y" * 200)
        assert ("[MemoryRef: make-2]" in text or REF in text) == (before < MAX_SENTENCE_CHARACTERS - 13), before


@pytest.mark.feature("C15")
@pytest.mark.parametrize(
    ("said", "memories"),
    [
        ("[MemoryRef: diary - I live in Oslo. I like tea. - 900 tokens]", []),
        ("I live in Porto.\n\n[MemoryRef: diary - I live in Oslo. I like tea. - 900 tokens]\n\nI like coffee.",
         ["I live in Porto.", "I like coffee."]),
        ("I like tea as [MemoryRef: diary] says.", []),
        ("[MemoryRef: diary - I like tea.", ["[MemoryRef: diary - I like tea."]),
    ],
)  # fmt: skip
def test_the_built_in_extraction_takes_no_memory_from_a_placeholder(said: str, memories: list[str]) -> None:
    payload = {
        "memory_types": [{"memory_type": "fact"}, {"memory_type": "preference"}],
        "messages": [{"role": "user", "seq": 0, "content": said, "created_at": "2026-05-01T12:00:00Z"}],
    }
    assert [memory["content"] for memory in _by_patterns(payload)["memories"]] == memories
