"""Placeholders in a text are replaced by what they stand for: which, how much of each, and within which limit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.artifacts.steps import embed, store
from tests.context.steps import at_most
from tests.support.sqlapi import Api, rolled_back

LINES = [f"12:{n // 60:02}:{n % 60:02} INFO worker {n % 7} handled request {n * 37 % 9973}" for n in range(900)]
LINES[610] = "12:10:10 WARN exporter could not bind the metrics endpoint to port 9464, pid 8812 has it"
LOG = "\n".join(LINES) + "\n"
QUESTION = "Which process blocks the port of the metrics endpoint?"


@pytest.fixture
def api(shared_api: Api) -> Iterator[Api]:
    with rolled_back(shared_api) as api:
        yield api


def expand(api: Api, content: str, max_tokens: int | None = None, query: str | None = None, **arguments: Any) -> str:
    said: str = api.expand_refs(
        **{"user_id": "ana", "content": content, "max_tokens": max_tokens, "query": query, **arguments}
    )
    return said


@pytest.mark.feature("C7")
class TestWhole:
    def test_placeholders_of_both_forms_are_replaced_by_the_exact_content(self, api: Api) -> None:
        content = "é 漢 🙂\r\n\ttwo  blanks\\1 \\& $0\n"
        ref = store(api, content, key="a").memory_ref
        store(api, "second", key="b.1/c")
        said = expand(api, f"One: {ref}! Two: [MemoryRef: b.1/c].")
        assert said == f"One: {content}! Two: second."

    def test_what_names_no_artifact_stays_as_it_is(self, api: Api) -> None:
        store(api, "secret", key="a", user_id="bob")
        store(api, "old", key="old", expires_at="2020-01-01")
        store(api, "text", key="k")
        for content in (
            "", "no placeholder", "[MemoryRef: a]", "[MemoryRef: missing - npm - 3 tokens]", "[MemoryRef: old]",
            "[MemoryRef: \u043a]", "[MemoryRef: k\u200b]", "[MemoryRef:k]", "(MemoryRef: k]", "[memoryref: k]",
            "\uff3bMemoryRef: k\uff3d", "[MemoryRef: k", "k", "[MemoryRef: [MemoryRef: missing]]",
        ):  # fmt: skip
            assert expand(api, content) == expand(api, content, 1000, "secret text") == content

    def test_inserted_content_is_not_expanded(self, api: Api) -> None:
        store(api, "self: [MemoryRef: bomb] and [MemoryRef: other]", key="bomb")
        store(api, "[MemoryRef: bomb][MemoryRef: bomb]", key="other")
        assert expand(api, "[MemoryRef: bomb]") == "self: [MemoryRef: bomb] and [MemoryRef: other]"
        assert expand(api, "[MemoryRef: other] [MemoryRef: bomb]") == (
            "[MemoryRef: bomb][MemoryRef: bomb] self: [MemoryRef: bomb] and [MemoryRef: other]"
        )


@pytest.mark.feature("C7")
class TestLimit:
    def test_the_result_has_at_most_so_many_tokens(self, api: Api) -> None:
        text = " ".join(store(api, LOG[n * 3000 :][: 300 * n + 100], key=f"log-{n}").memory_ref for n in range(8))
        lengths = set()
        for max_tokens in (0, 1, 50, at_most(api, text), 700, 1500, 3000, 6000, 20_000):
            for query in (None, QUESTION, "nothing of this"):
                said = expand(api, text, max_tokens, query)
                assert said == text or at_most(api, said) <= max_tokens
                lengths.add(len(said))
        assert len(lengths) > 5

    def test_without_a_query_what_fits_is_inserted_in_the_order_of_the_text(self, api: Api) -> None:
        store(api, LOG, key="long")
        for key in ("a", "b", "c"):
            store(api, f"{key} " * 40, key=key)
        text = "[MemoryRef: b] [MemoryRef: long] [MemoryRef: a] [MemoryRef: c]"
        fits_two = at_most(api, text) + 2 * at_most(api, "a " * 40)
        assert expand(api, text, fits_two) == f"{'b ' * 40} [MemoryRef: long] {'a ' * 40} [MemoryRef: c]"


@pytest.mark.feature("C7")
class TestPassages:
    def test_of_what_does_not_fit_the_lines_about_the_query_follow_the_placeholder(self, api: Api) -> None:
        ref = store(api, LOG, key="log").memory_ref
        said = expand(api, f"Output: {ref}. Done", 600, QUESTION)
        match = re.fullmatch(
            r"Output: (\[MemoryRef: log - .*\])\n\[\.\.\.\]\n((?:\d+: .*\n)+)\[\.\.\.\]\n\. Done", said
        )
        assert match
        assert match[1] == ref
        numbered = [line.split(": ", 1) for line in match[2].splitlines()]
        assert [LINES[int(number) - 1] for number, _ in numbered] == [line for _, line in numbered]
        assert ["611", LINES[610]] in numbered
        shown = api.retrieve_artifact(user_id="ana", key="log", from_line=int(numbered[0][0]), max_lines=len(numbered))
        assert shown.splitlines() == [line for _, line in numbered]


@pytest.mark.feature("C7")
class TestRelevance:
    """With a model only what the query needs is expanded. The server of these tests asks none by itself."""

    TEXT = "[MemoryRef: lease] [MemoryRef: build] [MemoryRef: trip]"

    @pytest.fixture
    def three(self, api: Api) -> Api:
        store(api, "Der Vermieter erhoeht die Miete.", key="lease")
        store(api, "make: nothing to be done", key="build")
        store(api, "Boarding begins at gate 12", key="trip")
        return api

    def test_by_meaning(self, three: Api) -> None:
        three.register_model(name="m", kind="embedding", provider="openai", model="m", settings={"dimensions": 3})
        three.activate_model(name="m")
        asked: dict[str, Any] = {"query": "How much is the rent?", "query_embedding": "[0.5,0.866,0]"}
        # None is embedded yet, so that nothing can be said of any.
        assert "[MemoryRef" not in expand(three, self.TEXT, **asked)
        embed(three, {"Vermieter": [0.0, 1.0, 0.0], "Boarding": [0.4, 0.3, 0.866]})
        for max_tokens in (None, 5000):
            said = expand(three, self.TEXT, max_tokens, **asked)
            assert said == "Der Vermieter erhoeht die Miete. [MemoryRef: build] [MemoryRef: trip]"
        # A word that both have counts, too.
        said = expand(three, self.TEXT, **{**asked, "query": "At which gate?"})
        assert said == "Der Vermieter erhoeht die Miete. [MemoryRef: build] Boarding begins at gate 12"
        assert "[MemoryRef" not in expand(three, self.TEXT)


@pytest.mark.feature("C7")
class TestMany:
    def test_thousands_of_placeholders_are_replaced_in_one_go(self, api: Api) -> None:
        # A connection keeps the plans that it has made while there was one artifact.
        store(api, "output zero, the first\n", key="m0")
        for _ in range(7):
            expand(api, "[MemoryRef: m0]", 100, "zero")
        api.connection.execute(
            "insert into memory.artifacts (user_id, key, content, description)"
            " select 'ana', 'm' || n, 'output ' || n || repeat(' of many words', 20), 'd'"
            " from generate_series(1, 799) as n"
        )
        text = " ".join(f"[MemoryRef: m{n % 1000}]" for n in range(4000))
        with api.at_most(cpu_seconds=15):
            said = expand(api, text)
            assert said.count("[MemoryRef: ") == 3200
            assert "output 799 of" in said
            limit = at_most(api, text) + 2000
            said = expand(api, text, limit, "output 777")
            assert "output 777 of" in said
            assert at_most(api, said) <= limit
            assert expand(api, text, 1, "output 777") == text
