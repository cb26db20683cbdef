"""Cutting long documents into pieces: when, how, and which results of a job are refused."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.documents.steps import FILLER, LONG, SENTENCES, chunks, cut, embed, embedded, find, hand_in, store
from tests.support.protocol import activate, claim, complete, lease, nothing_to_do, open_jobs
from tests.support.sqlapi import Api, refused


@pytest.mark.feature("A13")
def test_a_long_document_waits_to_be_cut_and_a_short_one_does_not(api: Api) -> None:
    store(api, "Tea grows.")
    assert open_jobs(api) == []
    store(api)
    store(api)
    assert open_jobs(api) == ["chunk_documents"]
    payload = claim(api, "chunk_documents").payload
    assert payload == {
        "model": {"name": "local", "provider": "local", "model": "patterns", "settings": {}},
        "prompt": None,
        "tokenizer": "gpt-4o",
        "chunk_size": 800,
        "chunk_overlap": 100,
        "documents": [{"number": 1, "text": LONG}, {"number": 2, "text": LONG}],
    }


@pytest.mark.feature("A13")
def test_the_policy_of_the_user_and_the_active_model_say_how_to_cut(api: Api) -> None:
    activate(api, "ada", "embedding")
    settings = {"knowledge_base": {"chunk_size": 5, "chunk_overlap": 2}}
    api.set_policy(settings=settings, user_id="ana")
    store(api, "Tea grows in the hills, and nowhere else.")
    store(api, "Tea grows in the hills, and nowhere else.", user_id="bob")
    job = claim(api, "chunk_documents")
    assert job.user_id == "ana"
    given = [job.payload[key] for key in ("chunk_size", "chunk_overlap", "tokenizer")]
    assert given == [5, 2, "ada-1"]


@pytest.mark.feature("A13")
def test_pieces_overlap_and_blanks_between_them_are_left_out(api: Api) -> None:
    text = f"\n {SENTENCES['tea']}\n\n\u00a0{FILLER}"
    store(api, text)
    job = claim(api, "chunk_documents")
    given = [
        {"start": 2, "length": 23, "token_count": 6},
        {"start": 28, "length": 100, "token_count": 20},
        {"start": 100, "length": len(text) - 101, "token_count": 500},
    ]
    complete(api, job, documents=[{"number": 1, "chunks": given}])
    assert [content for _, content, _ in chunks(api)] == [SENTENCES["tea"], text[28:128], text[100:-1]]


@pytest.mark.feature("A13")
def test_pieces_are_embedded_one_by_one_and_not_before_they_are_cut(api: Api) -> None:
    activate(api, "ada", "embedding")
    document_id = store(api)
    assert open_jobs(api) == ["chunk_documents"]
    store(api, "Tea is hot.")
    assert embed(api) == ["Tea is hot."]
    cut(api, 0, 1000, 2000)
    assert sorted(embed(api), key=LONG.index) == [LONG[:1000], LONG[1000:2000], LONG[2000:]]
    assert set(embedded(api)) >= {f"{document_id}/{number}" for number in range(3)}


@pytest.mark.feature("A13")
@pytest.mark.parametrize("change", ["content", "title"])
def test_a_changed_document_is_cut_and_embedded_anew(api: Api, change: str) -> None:
    activate(api, "ada", "embedding")
    document_id = store(api, title="Old")
    cut(api, 0, 1000, 2000)
    embed(api)
    api.connection.execute("update memory.documents set metadata = '{\"a\": 1}', namespace = 'other'")
    assert (len(embedded(api)), len(chunks(api)), open_jobs(api)) == (3, 3, [])
    changed = {"content": LONG.replace("Tea", "Coffee"), "title": "New harbour"}[change]
    api.query(f"update memory.documents set {change} = %(changed)s returning 1", changed=changed)
    assert (embedded(api), len(chunks(api))) == ([], 1)
    assert len(find(api, {"content": "coffee", "title": "harbour"}[change])) == 1
    cut(api, 0, 3000)
    embed(api)
    assert embedded(api) == [f"{document_id}/0", f"{document_id}/1"]
    assert len(find(api, {"content": "coffee", "title": "harbour"}[change])) == 1
    api.connection.execute("update memory.documents set content = 'Tea is hot.'")
    assert chunks(api) == [(0, "Tea is hot.", api.value("select token_count from memory.document_chunks"))]
    embed(api)
    assert (embedded(api), open_jobs(api)) == ([f"{document_id}/0"], [])


@pytest.mark.feature("A13")
@pytest.mark.parametrize("meanwhile", ["content", "title", "another"])
def test_a_document_that_changes_while_it_is_being_cut_is_cut_as_it_is_then(api: Api, meanwhile: str) -> None:
    store(api, title="Plants")
    job = claim(api, "chunk_documents")
    if meanwhile == "content":
        api.connection.execute("update memory.documents set content = content || ' The end.'")
    elif meanwhile == "title":
        api.connection.execute("update memory.documents set title = 'Harbour'")
    else:
        store(api, LONG.replace("Tea", "Coffee"))
    outcome = hand_in(api, job)
    assert outcome["documents"] == (1 if meanwhile in ("title", "another") else 0)
    if meanwhile in ("content", "another"):
        hand_in(api, claim(api, "chunk_documents"))
    assert nothing_to_do(api, "chunk_documents")
    expected = {"content": 2, "title": 2, "another": 4}
    assert len(chunks(api)) == expected[meanwhile]
    if meanwhile == "title":
        assert len(find(api, "harbour")) == 1


@pytest.mark.feature("A13")
def test_many_documents_are_cut_a_few_megabytes_at_a_time(api: Api) -> None:
    for _ in range(3):
        store(api, "word " * 400_000)
    store(api, "word " * 1_000_000)
    counts = []
    while jobs := api.claim_jobs(worker="test", kinds=["chunk_documents"]):
        counts.append(len(jobs[0].payload["documents"]))
        hand_in(api, jobs[0])
    assert (counts, len(chunks(api))) == ([2, 1, 1], 8)


END = len(LONG)


def one(start: Any = 0, length: Any = END, token_count: Any = 300, **more: Any) -> dict[str, Any]:
    """A result with one piece."""
    piece = {"start": start, "length": length, "token_count": token_count}
    return {"documents": [{"number": 1, "chunks": [piece], **more}]}


def several(*bounds: tuple[int, int]) -> dict[str, Any]:
    listed = [{"start": start, "length": end - start, "token_count": 300} for start, end in bounds]
    return {"documents": [{"number": 1, "chunks": listed}]}


MALFORMED: dict[str, Any] = {
    "nothing": {},
    "no document": {"documents": []},
    "one twice": {"documents": one()["documents"] * 2},
    "another number": one(number=2),
    "part of a number": one(number=1.5),
    "no chunks": {"documents": [{"number": 1}]},
    "an empty list": {"documents": [{"number": 1, "chunks": []}]},
    "a negative start": one(start=-1),
    "nothing long": one(length=0),
    "beyond the end": one(length=END + 1),
    "endless": one(length=10**400),
    "endless tokens": one(token_count=10**400),
    "words left out between": several((0, 100), (200, END)),
    "out of order": several((100, END), (0, 100)),
    "the document over and over": several(*((n, END - 200 + n) for n in range(200)), (200, END)),
}


@pytest.mark.feature("A13", "F6")
def test_malformed_pieces_are_refused_whole(api: Api) -> None:
    store(api)
    job = claim(api, "chunk_documents")
    before = api.state()
    for result in MALFORMED.values():
        with refused("result"):
            api.complete_job(**lease(job), result=Jsonb(result))
    assert api.state() == before
