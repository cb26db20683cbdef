"""Recognition of credentials: precision and recall on labelled texts, marks, and time on hostile input."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis.strategies import characters, from_regex, tuples

from tests.masking.labelled import KEYS, credentials, harmless
from tests.support.sqlapi import Api

lists = pytest.importorskip("sql.lists", reason="the lists need Python 3.11")

pytestmark = pytest.mark.feature("C13")


def masked(api: Api, text: str) -> str:
    result: str = api.value("select memory._without_credentials(%(text)s)", text=text)
    return result


def test_precision_and_recall_on_labelled_texts(api: Api) -> None:
    with_credentials, without = credentials(), harmless()
    assert min(len(with_credentials), len(without)) >= 220
    missed = [(kind, text) for kind, text, credential in with_credentials if credential in masked(api, text)]
    wrong = [text for text in without if masked(api, text) != text]
    found = len(with_credentials) - len(missed)
    recall, precision = found / len(with_credentials), found / (found + len(wrong))
    print(f"recall {recall:.3f}, precision {precision:.3f}, of {len(with_credentials)} and {len(without)} texts")
    assert recall >= 0.97, missed
    assert precision >= 0.99, wrong
    # Those that are not recognised have neither a form, nor a name before them that means a credential.
    assert {kind for kind, _ in missed} <= {"no name", "name of one program"}
    assert set(wrong) <= {"password=test", "lorem1ipsum2dolor3sit4amet5consectetur6adipiscing"}


def test_a_second_call_changes_nothing_more(api: Api) -> None:
    for kind, text, _ in credentials():
        once = masked(api, text)
        assert masked(api, once) == once, kind


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Use {KEYS['GitHub token']()}, please", "Use (credential: GitHub token), please"),
        ("DB_PASSWORD=hunter2", "DB_PASSWORD=(credential: password)"),
        ('{"password": "a b c 1", "user": "ana"}', '{"password": "(credential: password)", "user": "ana"}'),
        ("password: NULL\npassword=null;a=b", "password: NULL\npassword=null;a=b"),
        (r'{\"password\": \"hunter2\"}', r'{\"password\": \"(credential: password)\"}'),
        ("password=hunter2;user=ana", "password=(credential: password);user=ana"),
        ("a token=1a2b3c4d5e6f&user=ana", "a token=(credential: token)&user=ana"),
        ("postgresql://app:hunter2@db/shop", "postgresql://app:(credential: password)@db/shop"),
    ],
)  # fmt: skip
def test_the_mark_stands_in_place_of_the_credential_alone(api: Api, text: str, expected: str) -> None:
    assert masked(api, text) == expected


def test_every_kind_of_key_has_a_mark_that_names_it(api: Api) -> None:
    marks = {kind: masked(api, f"x {make()} y") for kind, make in KEYS.items()}
    assert all(mark.startswith("x ") and mark.endswith(" y") and "(credential: " in mark for mark in marks.values())
    assert marks["Stripe key"] == "x (credential: Stripe key) y"


def test_a_text_that_a_pattern_matches_also_matches_its_part(api: Api) -> None:
    forms = lists.toml("credentials")["form"]
    parts, patterns = [form["part"] for form in forms], [form["pattern"] for form in forms]
    letters = characters(min_codepoint=ord(" "), max_codepoint=ord("~"))
    matched = tuples(*(from_regex(re.sub(r"\\[mM]", r"\\b", pattern), alphabet=letters) for pattern in patterns))

    @settings(max_examples=20, deadline=None, derandomize=True)
    @given(texts=matched)
    def check(texts: tuple[str, ...]) -> None:
        matches = api.query(
            "select f.pattern, f.text, f.text ~ f.part as has_part"
            " from unnest(%(texts)s::text[], %(parts)s::text[], %(patterns)s::text[]) as f (text, part, pattern)"
            " where f.text ~ f.pattern",
            texts=list(texts), parts=parts, patterns=patterns,
        )  # fmt: skip
        assert [match.text for match in matches if not match.has_part] == []
        tried.update(match.pattern for match in matches)

    tried: set[str] = set()
    check()
    assert tried == set(patterns)


HOSTILE = {
    "one letter": "x",
    "addresses": "://a:",
    "beginnings of keys": "-----BEGIN PRIVATE KEY-----",
    "names": "password=",
    "quotes": 'token: "',
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_time_is_linear_in_hostile_texts(api: Api, piece: str) -> None:
    """Four times the text may take ten times as long at most; what is quadratic takes sixteen times."""

    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        best = float("inf")
        for _ in range(2):
            started = api.cpu_seconds()
            masked(api, text)
            best = min(best, api.cpu_seconds() - started)
        return best

    small = 50_000 if "=" in piece or '"' in piece else 500_000
    assert seconds(4 * small) < 10 * seconds(small) + 0.2


def test_ten_megabytes_without_a_blank_take_seconds(api: Api) -> None:
    with api.at_most(cpu_seconds=30):
        masked(api, "aB3dE5fG7h" * 1_000_000)
