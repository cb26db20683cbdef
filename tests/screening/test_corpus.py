"""The rules find attacks in a dozen languages and leave harmless sentences alone; docs/poisoning.md has the figures."""

from __future__ import annotations

import pytest

from tests.screening import corpus
from tests.support.sqlapi import Api

FOUND = """
select array(select memory._verdict(t.said, %(trust)s) is not null
             from unnest(%(texts)s::text[]) with ordinality as t (said, place) order by t.place) as found
"""


def found(api: Api, texts: list[tuple[str, str]], trust: float) -> list[bool]:
    verdicts: list[bool] = api.query(FOUND, trust=trust, texts=[text for _, text in texts])[0].found
    return verdicts


@pytest.mark.feature("F10")
def test_the_rules_find_attacks_that_nobody_looked_at_while_they_were_written(api: Api) -> None:
    attacks = corpus.attacks()
    assert len(attacks) >= 300
    assert len({language for language, _ in attacks}) >= 12
    verdicts = found(api, attacks, 0.4)
    tuned, held_out = verdicts[0::2], verdicts[1::2]
    assert sum(tuned) / len(tuned) >= 0.95
    assert sum(held_out) / len(held_out) >= 0.95


@pytest.mark.feature("F10")
@pytest.mark.parametrize(("trust", "most"), [(0.4, 9), (0.8, 2), (1.0, 2)])
def test_fewer_than_one_harmless_sentence_in_a_hundred_is_held_for_an_attack(api: Api, trust: float, most: int) -> None:
    harmless = corpus.harmless()
    assert len(set(harmless)) == 1000
    assert sum(found(api, harmless, trust)) <= most


@pytest.mark.feature("F10")
@pytest.mark.parametrize(("trust", "most"), [(0.4, 6), (0.8, 1), (1.0, 0)])
def test_words_of_different_sentences_of_a_line_are_no_sign_together(api: Api, trust: float, most: int) -> None:
    sentences = [text for _, text in corpus.harmless()]
    lines = [("", " ".join(sentences[start : start + 10])) for start in range(0, len(sentences), 10)]
    assert sum(found(api, lines, trust)) <= most


@pytest.mark.feature("F10")
def test_the_word_of_a_user_needs_stronger_signs_than_that_of_a_tool(api: Api) -> None:
    attacks = corpus.attacks()
    counts = [sum(found(api, attacks, trust)) for trust in (0.4, 0.8, 1.0)]
    assert counts == sorted(counts, reverse=True)
    assert counts[2] > 0
