"""What is forgotten is found however it is spelled, wherever a long text is cut, in time that grows with the texts."""

from __future__ import annotations

import unicodedata

import pytest

from tests.support.runners import PATIENCE
from tests.support.sessions import Sessions
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F5")

ANA = {"user_id": "ana"}
THREAD = {**ANA, "thread_id": "t1"}
SAID = "Doesn't eat jalape\u00f1os since the op in Malm\u00f6 - says so herself"

SPELLINGS = {
    "as it is": SAID,
    "decomposed": unicodedata.normalize("NFD", SAID),
    "soft hyphens": SAID.replace("jala", "jala\u00ad"),
    "zero width": "\u200b".join(SAID),
    "joiners and marks of direction": SAID.replace("since", "si\u200dn\u2060c\u200ee"),
    "variation selectors": SAID.replace("since", "s\ufe0fince"),
    "no-break spaces": SAID.replace(" ", "\u00a0"),
    "other spaces": SAID.replace(" ", " \u2009\t\u3000\n"),
    "full-width": "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in SAID),
    "mathematical letters": SAID.replace("since", "\U0001d42c\U0001d422\U0001d427\U0001d41c\U0001d41e"),
    "typographic": SAID.replace("'", "\u2019").replace("-", "\u2014"),
    "an acute accent as apostrophe": SAID.replace("'", "\u00b4"),
    "upper case": SAID.upper(),
}


def contents(api: Api) -> list[str]:
    return [memory.content for memory in api.list_memories(**ANA)]


@pytest.mark.parametrize(
    ("forgotten", "spelling"),
    [
        *(("as it is", name) for name in SPELLINGS),
        ("other", "decomposed"),
        ("other", "zero width"),
        ("other", "other spaces"),
    ],
)
def test_a_sentence_is_found_in_every_spelling(api: Api, forgotten: str, spelling: str) -> None:
    """In messages, metadata, memories, artifacts, reasons; and a memory in that spelling forgets the plain one."""
    mine, other = (SAID, SPELLINGS[spelling]) if forgotten == "as it is" else (SPELLINGS[spelling], SAID)
    memory_id = api.add_memory(**ANA, content=mine).memory_id
    api.add_memory(**ANA, content=other, agent_id="other")
    api.add_memory(**ANA, content=f"Vegetarian. {other}!", agent_id="longer")
    kept = api.add_memory(**ANA, content="Likes tea", metadata={"said": [other], other: 1}, tags=[other]).memory_id
    api.add_message(**THREAD, role="user", content=f"So: {other}.")
    api.add_message(**THREAD, role="user", content="Note that", metadata={"tool_input": {"text": f"I {other}"}})
    api.add_message(**THREAD, role="user", content="Hello")
    api.store_artifact(**ANA, content=f"First line\n{other}\nlast line", key="diary")
    api.store_artifact(**ANA, content="First line\nlast line", key="other")
    upload = api.add_artifact_piece(**ANA, content=f"Dear diary, {other}")
    api.forget_memory(**ANA, memory_id=api.add_memory(**ANA, content="Nothing").memory_id, reason=f"not {other}")

    api.forget_memory(**ANA, memory_id=memory_id, reason=f"asked for {other}")
    assert contents(api) == ["Likes tea"]
    left = api.get_memory(**ANA, memory_id=kept)
    assert (left.metadata, left.tags) == ({"said": ["[forgotten]"], "[forgotten]": 1}, ["[forgotten]"])
    assert [message.content for message in api.get_messages(**THREAD)] == ["Hello"]
    assert [artifact.key for artifact in api.list_artifacts(**ANA)] == ["other"]
    assert api.value("select count(*) from memory.artifact_parts where content_id = %(u)s", u=upload) == 0
    assert api.value("select count(*) from memory.receipts where reason not like '%%[forgotten]%%'") == 0
    assert api.add_memory(**ANA, content=other, source="extraction").memory_id is None
    assert api.was_forgotten(**ANA, messages=[{"role": "user", "content": other}]) == [True]


AT_TABLE = "Caf\u00e9 Lum\u00e8re is where she meets Zo\u00eb"


@pytest.mark.parametrize(
    ("said", "other"),
    [
        (AT_TABLE, unicodedata.normalize("NFD", AT_TABLE)),
        ("\u30ac\u30c0\u30d0" * 10, "\uff76\uff9e\uff80\uff9e\uff8a\uff9e" * 10),
    ],
    ids=["decomposed", "half-width Katakana"],
)
def test_a_sentence_is_found_at_every_place_of_a_text(api: Api, said: str, other: str) -> None:
    """A text is spelled in pieces, and none begins with the accent of the letter before it."""
    places = api.value(
        "select array_agg(n) from generate_series(180, 300) as n"
        " where not memory._states_any(repeat('x ', n / 2) || repeat('.', mod(n, 2)) || %(other)s,"
        " memory._wordings_of(array[%(said)s]))",
        other=other,
        said=said,
    )
    assert places is None


@pytest.mark.parametrize("content", ["C++", "\u2764\ufe0f", "\u00adcaf\u00e9"])
def test_a_short_statement_takes_only_texts_that_consist_of_it(api: Api, content: str) -> None:
    api.add_message(**THREAD, role="user", content=f" {unicodedata.normalize('NFD', content).upper()}\u200b")
    api.add_message(**THREAD, role="user", content=f"{content}, I think")
    api.add_message(**THREAD, role="assistant", content="", metadata={"tool_calls": [{"id": "1"}]})
    api.store_artifact(**ANA, content=f"{content}\n", key="alone")
    api.store_artifact(**ANA, content=f"{content} x\n" * 1000, key="longer")
    api.forget_memory(**ANA, memory_id=api.add_memory(**ANA, content=content).memory_id)
    assert [message.seq for message in api.get_messages(**THREAD)] == [1, 2]
    assert [artifact.key for artifact in api.list_artifacts(**ANA)] == ["longer"]


def test_a_memory_that_nobody_sees_takes_nothing_with_it(api: Api) -> None:
    """Its wording is empty, and so is a message that only calls a tool."""
    api.add_message(**THREAD, role="assistant", content="", metadata={"tool_calls": [{"id": "1"}]})
    api.add_memory(**ANA, content="Likes tea")
    api.forget_memory(**ANA, memory_id=api.add_memory(**ANA, content="\u00ad").memory_id)
    assert contents(api) == ["Likes tea"]
    assert len(api.get_messages(**THREAD)) == 1


PLACE = "Grew up in Unterkirnachschwarzwald, above the mill, with two brothers and a goat"
NO_BLANKS = "她在一九八七年因为家里的债务离开了那个小城并且再也没有回去过一次"


FRENCH = unicodedata.normalize("NFD", "Née à Tète-Noïre, près de l'église")


@pytest.mark.parametrize(
    ("boundary", "statement", "filler"),
    [
        (3072, PLACE, "lorem ipsum dolor\n"),
        (3072, NO_BLANKS, "\u6f22\u5b57"),
        (49152, FRENCH, "x"),
        (81920, PLACE, "\u6f22\u5b57"),
        (262144, NO_BLANKS, "x"),
    ],
)
def test_a_sentence_that_crosses_a_boundary_is_found(api: Api, boundary: int, statement: str, filler: str) -> None:
    """At every place around a boundary: parts have 3 KiB, and 32 KiB after the first 48; stretches have 256 KiB."""
    size = len(statement.encode())
    keys = []
    for before in range(boundary - size - 8, boundary + 8, 3 if boundary == 3072 else 16):
        text = (filler * before).encode()[:before].decode(errors="ignore")
        text = f"{text} {statement} {filler * 2000}"
        keys.append(f"k{before}")
        api.store_artifact(**ANA, content=text, key=keys[-1])
    api.store_artifact(**ANA, content=filler * 20_000, key="other")
    api.forget_memory(**ANA, memory_id=api.add_memory(**ANA, content=statement).memory_id)
    assert [artifact.key for artifact in api.list_artifacts(**ANA, row_limit=1000)] == ["other"]
    assert len(keys) >= 3


@pytest.mark.parametrize("is_stored", [True, False])
def test_a_sentence_that_comes_in_pieces_is_found(api: Api, is_stored: bool) -> None:
    """Each piece is a part of the sentence, and together they lie across the boundary of two parts."""
    for before in range(3072 - len(PLACE) - 8, 3072 + 8, 8):
        text = "x" * (before - 1) + " " + PLACE + "\n" + "y" * 4000
        upload = None
        for start in [0, *range(before, before + len(PLACE), 9)]:
            end = before if start == 0 else start + 9
            upload = api.add_artifact_piece(**ANA, content=text[start:end], **({"upload_id": upload} if upload else {}))
        if is_stored:
            api.store_artifact(**ANA, content=None, upload_id=upload)
    uploads = 0 if is_stored else api.value("select count(*) from memory.artifact_uploads")
    receipt = api.forget_memory(**ANA, memory_id=api.add_memory(**ANA, content=PLACE).memory_id)
    assert api.list_artifacts(**ANA) == []
    assert api.value("select count(*) from memory.artifact_parts") == 0
    assert receipt["tables"].get("artifact_uploads", 0) == uploads


def test_a_piece_that_comes_meanwhile_leaves_no_part(sessions: Sessions) -> None:
    """forget_memory waits for it, and removes the part that it has added."""
    api, writer = sessions.api, sessions.new()
    memory_id = api.add_memory(**ANA, content=PLACE).memory_id
    upload = api.add_artifact_piece(**ANA, content=PLACE * 100)
    with writer.connection.transaction():
        writer.add_artifact_piece(**ANA, content="And so on. " * 5000, upload_id=upload)
        forgetting = sessions.start("forget_memory", **ANA, memory_id=memory_id)
    assert forgetting.result(PATIENCE)["tables"]["artifact_uploads"] == 1
    assert api.value("select count(*) from memory.artifact_parts") == 0


def cost(api: Api, memory: str, texts: list[str]) -> float:
    """CPU of forgetting a memory beside messages with these texts and an artifact with all of them."""
    with api.connection.transaction(force_rollback=True):
        memory_id = api.add_memory(**ANA, content=memory).memory_id
        api.add_messages(**THREAD, messages=[{"role": "user", "content": text} for text in texts])
        api.store_artifact(**ANA, content="\n".join(texts), key="all")
        before = api.cpu_seconds()
        tables = api.forget_memory(**ANA, memory_id=memory_id)["tables"]
        assert "messages" not in tables
        return api.cpu_seconds() - before


def test_the_work_is_linear_in_the_bytes(api: Api) -> None:
    """200 KB beside 1 MB of texts with its words took 62 s: the memory was spelled once for each text."""
    unit = "ma\u0301s cafe\u0301 "
    texts = [unit * 20 for _ in range(1_000_000 // len(unit.encode()) // 20)]
    assert cost(api, f"Once {unit * (20_0000 // len(unit.encode()))}", texts) < 10  # 2.3 to 3.6 s
