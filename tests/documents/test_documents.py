"""The knowledge base: documents are found at once, long ones by the pieces that a job cuts them into."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.support.protocol import ANA, activate, claim, complete, lease, nothing_to_do, open_jobs
from tests.support.sqlapi import Api, refused, rolled_back, wide_text

SENTENCES = {"tea": "Tea grows in the hills.", "boat": "A boat needs paint.", "goat": "A goat eats anything."}
FILLER = "Nothing of note happened on this day, and nobody wrote anything down. " * 80
"""About 1,200 tokens that no test looks for."""
LONG = f"{SENTENCES['tea']} {FILLER}{SENTENCES['boat']} {FILLER}{SENTENCES['goat']}"


@pytest.fixture
def api(shared_api: Api) -> Iterator[Api]:
    with rolled_back(shared_api) as api:
        api.connection.execute("set local statement_timeout = '30s'")
        yield api


def store(api: Api, content: str = LONG, **arguments: Any) -> UUID:
    stored: UUID = api.add_document(**{"user_id": "ana", "content": content, **arguments})
    return stored


def pieces(text: str, *starts: int, tokens: int = 300) -> list[dict[str, int]]:
    """Chunks that begin at these places and reach to the next one."""
    bounds = [*(starts or (0, len(text) // 2)), len(text)]
    return [{"start": start, "length": end - start, "token_count": tokens} for start, end in itertools.pairwise(bounds)]


def cut(api: Api, *starts: int) -> Any:
    """Do the one job that cuts documents, all of them at these places."""
    job = claim(api, "chunk_documents")
    return hand_in(api, job, *starts)


def hand_in(api: Api, job: Any, *starts: int) -> Any:
    given = job.payload["documents"]
    return complete(
        api, job, documents=[{"number": row["number"], "chunks": pieces(row["text"], *starts)} for row in given]
    )


def chunks(api: Api) -> list[tuple[int, str, int | None]]:
    rows = api.query("select number, content, token_count from memory.document_chunks order by document_id, number")
    return [tuple(row) for row in rows]


def find(api: Api, query: str, **arguments: Any) -> list[Any]:
    found: list[Any] = api.search(
        **{"user_id": "ana", "query": query, "sources": ["document"], "mode": "keyword", **arguments}
    )
    return found


def embed(api: Api, vectors: dict[str, list[float]] | None = None) -> list[str]:
    """Embed all there is; the texts. Those that contain a key of ``vectors`` get its vector."""
    texts = []
    while jobs := api.claim_jobs(worker="test", kinds=["embed", "backfill"]):
        given = [row["text"] for row in jobs[0].payload["texts"]]
        complete(
            api,
            jobs[0],
            embeddings=[
                next((v for key, v in (vectors or {}).items() if key in text), [1.0, 0.0, 0.0]) for text in given
            ],
        )
        texts += given
    return texts


def embedded(api: Api) -> list[str]:
    return [row.id for row in api.query("select id from memory.embeddings where source = 'document' order by id")]


# Storing --------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("A12")
def test_a_document_has_what_it_was_given(api: Api) -> None:
    document_id = store(
        api, "Tea grows.", title="Plants", namespace="garden", doc_type="manual", metadata={"pages": [1, 2]}
    )
    [document] = api.list_documents(user_id="ana")
    assert document.document_id == document_id
    assert (document.title, document.namespace, document.doc_type) == ("Plants", "garden", "manual")
    assert (document.content, document.metadata, document.thread_id) == ("Tea grows.", {"pages": [1, 2]}, None)
    store(api, "Tea grows.", metadata=None)
    plain = api.list_documents(user_id="ana")[0]
    assert (plain.title, plain.namespace, plain.doc_type, plain.metadata) == (None, "default", "document", {})


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "no user": ("user_id", {"user_id": None}, "22023"),
    "an empty user": ("user_id", {"user_id": ""}, "22023"),
    "no content": ("content", {"content": None}, "22023"),
    "empty content": ("content", {"content": ""}, "22023"),
    "blank content": ("content", {"content": " \n\t"}, "22023"),
    "too much content": ("content", {"content": "x" * 10_485_761}, "54000"),
    "a long title": ("title", {"title": "é" * 1001}, "54000"),
    "no namespace": ("namespace", {"namespace": None}, "22023"),
    "a long namespace": ("namespace", {"namespace": "x" * 256}, "22023"),
    "an empty type": ("doc_type", {"doc_type": ""}, "22023"),
    "a list as metadata": ("metadata", {"metadata": Jsonb([1])}, "22023"),
    "much metadata": ("metadata", {"metadata": {"a": "x" * 1_100_000}}, "54000"),
}


@pytest.mark.feature("A12")
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_document_is_refused_with_a_hint(api: Api, case: str) -> None:
    argument, given, code = REFUSED[case]
    before = api.state()
    with refused(argument, code):
        store(api, **{"content": "Tea grows.", **given})
    assert api.state() == before


@pytest.mark.feature("A12")
@pytest.mark.parametrize("column", ["title", "content", "namespace", "metadata"])
def test_direct_writes_obey_the_same_rules(api: Api, column: str) -> None:
    """An import with COPY, or an edit in psql."""
    bad = {"title": "x" * 2001, "content": "  ", "namespace": "", "metadata": Jsonb([1])}[column]
    row = {"user_id": "ana", "content": "Tea grows.", "title": "Tea", "namespace": "n", "metadata": Jsonb({})}
    insert = (
        "insert into memory.documents (user_id, content, title, namespace, metadata) "
        "values (%(user_id)s, %(content)s, %(title)s, %(namespace)s, %(metadata)s) returning document_id"
    )
    with refused(column, "54000" if column == "title" else "22023"):
        api.query(insert, **{**row, column: bad})
    document_id = api.value(insert, **row)
    assert [result.id for result in find(api, "tea")] == [str(document_id)]
    with refused(column, "54000" if column == "title" else "22023"):
        api.query(f"update memory.documents set {column} = %(bad)s returning 1", bad=bad)


@pytest.mark.feature("A12")
@pytest.mark.parametrize("text", ["word " * 2_000_000, "x" * 10_485_760, "☕" * 3_000_000], ids=["words", "x", "cups"])
def test_the_largest_document_is_stored_in_reasonable_time(api: Api, text: str) -> None:
    api.connection.execute("set local statement_timeout = '10s'")
    store(api, f"Tea.\n{text}"[:10_000_000])
    assert len(find(api, "tea")) == 1
    assert len(claim(api, "chunk_documents").payload["documents"][0]["text"]) > 1_000_000


@pytest.mark.feature("A12")
def test_documents_are_listed_newest_first_by_page_namespace_and_type(api: Api) -> None:
    for number in range(4):
        store(api, f"Document {number}", namespace=f"n{number % 2}", doc_type=f"t{number // 2}")
    store(api, "Bob's", user_id="bob")

    def listed(**arguments: Any) -> list[str]:
        return [row.content[-1] for row in api.list_documents(user_id="ana", **arguments)]

    assert listed() == ["3", "2", "1", "0"]
    assert listed(namespace="n1") == ["3", "1"]
    assert listed(namespace="n1", doc_type="t0") == ["1"]
    assert listed(namespace="none") == []
    assert listed(row_limit=1, row_offset=2) == ["1"]
    assert {row.total_count for row in api.list_documents(user_id="ana", row_limit=1)} == {4}


@pytest.mark.feature("A12")
def test_a_deleted_document_leaves_no_piece_and_no_embedding(api: Api) -> None:
    activate(api, "ada", "embedding")
    document_id, kept = store(api), store(api, "Tea is hot.")
    cut(api, 0, 2000)
    embed(api)
    assert embedded(api) == sorted([f"{document_id}/0", f"{document_id}/1", f"{kept}/0"])
    assert not api.delete_document(user_id="bob", document_id=document_id)
    assert not api.delete_document(user_id="ana", document_id=uuid4())
    assert api.delete_document(user_id="ana", document_id=document_id)
    assert not api.delete_document(user_id="ana", document_id=document_id)
    assert (embedded(api), len(chunks(api))) == ([f"{kept}/0"], 1)
    assert [result.id for result in find(api, "tea")] == [str(kept)]


@pytest.mark.feature("A12")
def test_nobody_else_sees_a_document(api: Api) -> None:
    activate(api, "ada", "embedding")
    store(api, user_id="bob")
    cut(api)
    embed(api)
    assert api.list_documents(user_id="ana") == find(api, "tea") == []
    assert find(api, "tea", mode="vector", query_embedding="[1,0,0]") == []
    assert len(find(api, "tea", user_id="bob")) == 1


# Finding --------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("A12", "A14")
@pytest.mark.parametrize("content", ["Tea grows.", LONG], ids=["short", "long"])
def test_a_document_is_found_by_keyword_at_once(api: Api, content: str) -> None:
    document_id = store(api, content, title="Plants", namespace="garden", metadata={"a": 1})
    [result] = find(api, "tea")
    assert result[:4] == ("document", str(document_id), None, content[:3200])
    assert result.metadata == {"a": 1}
    expected = {"title": "Plants", "namespace": "garden", "doc_type": "document", "chunk": 0, "chunks": 1}
    assert result.details == expected


@pytest.mark.feature("A12")
def test_a_document_is_found_by_its_title(api: Api) -> None:
    activate(api, "ada", "embedding")
    document_id = store(api, title="The harbour festival")
    assert [result.id for result in find(api, "harbour")] == [str(document_id)]
    cut(api)
    assert [result.id for result in find(api, "harbour")] == [str(document_id)]
    assert all(text.startswith("The harbour festival\n") for text in embed(api))


@pytest.mark.feature("A12")
def test_a_document_is_one_result_with_its_best_piece(api: Api) -> None:
    activate(api, "ada", "embedding")
    places = [0, LONG.index(SENTENCES["boat"]), LONG.index(SENTENCES["goat"])]
    document_id = store(api)
    cut(api, *places)
    vectors = {
        SENTENCES["tea"]: [1.0, 0.0, 0.0],
        SENTENCES["boat"]: [0.0, 1.0, 0.0],
        SENTENCES["goat"]: [0.0, 0.0, 1.0],
    }
    assert len(embed(api, vectors)) == 3
    other = store(api, "A boat is no car, and this is about cars.")
    for number, word in enumerate(SENTENCES):
        query_embedding = str([float(number == place) for place in range(3)])
        for mode in ("keyword", "vector", "hybrid"):
            results = find(api, word, mode=mode, query_embedding=query_embedding)
            assert [result.id for result in results].count(str(document_id)) == 1
            [result] = [result for result in results if result.id == str(document_id)]
            assert result.content.startswith(SENTENCES[word])
            assert (result.details["chunk"], result.details["chunks"]) == (number, 3)
    assert {result.id for result in find(api, "boat")} == {str(document_id), str(other)}


@pytest.mark.feature("A12")
def test_an_archived_conversation_is_cut_and_found_like_any_document(api: Api) -> None:
    activate(api, "ada", "embedding")
    api.set_policy(
        settings={
            "search": {"embed_messages": False},
            "compression": {"archive_conversations": True, "recent_messages_to_keep": 1},
            "knowledge_base": {"chunk_size": 10, "chunk_overlap": 0},
        }
    )
    api.talk(**ANA, rounds=4)
    api.compress_thread(**ANA)
    complete(api, claim(api, "compress_thread"), summary=f"They spoke about tea. {FILLER[:200]}")
    [found] = find(api, "tea", doc_types=["conversation"])
    assert (found.thread_id, found.details["doc_type"], found.details["chunks"]) == ("t1", "conversation", 1)
    cut(api, 0, 100)
    assert len([text for text in embed(api) if text.startswith("Conversation t1\n")]) == 2
    [found] = find(api, "tea")
    assert found.details["chunks"] == 2
    assert find(api, "tea", doc_types=["manual"]) == []
    api.delete_thread(**ANA)
    assert (find(api, "tea"), embedded(api), chunks(api)) == ([], [], [])


# Cutting --------------------------------------------------------------------------------------------------------------


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


@pytest.mark.feature("E4", "A14")
def test_a_long_document_shows_its_beginning_until_it_is_cut(api: Api) -> None:
    text = " ".join(f"word{number}" for number in range(5000))
    api.add_document(user_id="ana", content=text)
    [result] = api.search(user_id="ana", query="word4999", mode="keyword")
    assert result.content == text[:3200]
    hand_in(api, claim(api, "chunk_documents"))
    [result] = api.search(user_id="ana", query="word4999", mode="keyword")
    assert "word4999" in result.content


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
def test_the_pieces_are_the_documents_own_words(api: Api) -> None:
    text = f"Tea ☕. {FILLER} é𝒳 Boat."
    store(api, text)
    assert cut(api, 0, 6, len(text) - 8) == {"documents": 1, "chunks": 3}
    assert chunks(api) == [
        (0, "Tea ☕.", 300),
        (1, text[6:-8], 300),
        (2, "é𝒳 Boat.", 300),
    ]
    assert (open_jobs(api), nothing_to_do(api)) == ([], True)


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
@pytest.mark.parametrize("meanwhile", ["content", "title", "deleted", "shortened", "another"])
def test_what_happens_while_a_document_is_being_cut_counts(api: Api, meanwhile: str) -> None:
    document_id = store(api, title="Plants")
    job = claim(api, "chunk_documents")
    if meanwhile == "content":
        api.connection.execute("update memory.documents set content = content || ' The end.'")
    elif meanwhile == "title":
        api.connection.execute("update memory.documents set title = 'Harbour'")
    elif meanwhile == "shortened":
        api.connection.execute("update memory.documents set content = 'Tea.'")
    elif meanwhile == "deleted":
        api.delete_document(user_id="ana", document_id=document_id)
    else:
        store(api, LONG.replace("Tea", "Coffee"))
    outcome = hand_in(api, job)
    assert outcome["documents"] == (1 if meanwhile in ("title", "another") else 0)
    if meanwhile in ("content", "another"):
        hand_in(api, claim(api, "chunk_documents"))
    assert nothing_to_do(api, "chunk_documents")
    expected = {"content": 2, "title": 2, "shortened": 1, "deleted": 0, "another": 4}
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
    "null": {"documents": None},
    "an object": {"documents": {"1": []}},
    "no document": {"documents": []},
    "a document too many": {"documents": [*one()["documents"], *one(number=2)["documents"]]},
    "one twice": {"documents": one()["documents"] * 2},
    "another number": one(number=2),
    "number 0": one(number=0),
    "a number as text": one(number="1"),
    "part of a number": one(number=1.5),
    "a huge number": one(number=10**400),
    "no number": {"documents": [{"chunks": one()["documents"][0]["chunks"]}]},
    "a text": {"documents": ["chunks"]},
    "no chunks": {"documents": [{"number": 1}]},
    "an object of chunks": {"documents": [{"number": 1, "chunks": {}}]},
    "an empty list": {"documents": [{"number": 1, "chunks": []}]},
    "texts as chunks": {"documents": [{"number": 1, "chunks": [LONG]}]},
    "a null chunk": {"documents": [{"number": 1, "chunks": [None]}]},
    "a negative start": one(start=-1),
    "a start as text": one(start="0"),
    "part of a character": one(start=0.5),
    "no length": one(length=None),
    "nothing long": one(length=0),
    "negative length": one(length=-1),
    "beyond the end": one(length=END + 1),
    "far beyond the end": one(start=10**9, length=10**9),
    "endless": one(length=10**400),
    "no tokens": one(token_count=None),
    "negative tokens": one(token_count=-5),
    "endless tokens": one(token_count=10**400),
    "words left out at the start": several((3, END)),
    "words left out between": several((0, 100), (200, END)),
    "words left out at the end": several((0, END - 3)),
    "out of order": several((100, END), (0, 100)),
    "the same twice": several((0, END), (0, END)),
    "one within another": several((0, END), (10, 20)),
    "the document over and over": several(*((n, END - 200 + n) for n in range(200)), (200, END)),
}


@pytest.mark.feature("A13", "F6")
@pytest.mark.parametrize("malformed", MALFORMED)
def test_malformed_pieces_are_refused_whole(api: Api, malformed: str) -> None:
    store(api)
    job = claim(api, "chunk_documents")
    before = api.state()
    with refused("result"):
        api.complete_job(**lease(job), result=Jsonb(MALFORMED[malformed]))
    assert api.state() == before


@pytest.mark.feature("A13")
def test_the_largest_document_is_cut_in_reasonable_time(api: Api) -> None:
    text = wide_text(2_600_000)
    store(api, text)
    job = claim(api, "chunk_documents")
    api.connection.execute("set local statement_timeout = '15s'")
    assert hand_in(api, job, *range(0, len(text), 800))["chunks"] == 3250
    assert "".join(content for _, content, _ in chunks(api)) == text


@pytest.mark.feature("A13")
@pytest.mark.parametrize("form", ["{}.0", "{}e0", "{}"])
def test_whole_numbers_may_be_written_in_any_way(api: Api, form: str) -> None:
    store(api)
    job = claim(api, "chunk_documents")
    number = form.format
    result = (
        f'{{"documents": [{{"number": {number(1)}, "chunks": '
        f'[{{"start": {number(0)}, "length": {number(END)}, "token_count": {number(30)}}}]}}]}}'
    )
    api.query(
        "select memory.complete_job(%(user_id)s, %(job_id)s, %(lease_token)s, %(result)s::jsonb)",
        **lease(job),
        result=result,
    )
    assert chunks(api) == [(0, LONG, 30)]


@pytest.mark.feature("A13")
def test_a_bad_piece_of_one_document_stores_none_of_another(api: Api) -> None:
    store(api)
    store(api)
    job = claim(api, "chunk_documents")
    good, bad = pieces(LONG), pieces(LONG + "x")
    with refused("result"):
        api.complete_job(
            **lease(job),
            result={"documents": [{"number": 1, "chunks": good}, {"number": 2, "chunks": bad}]},
        )
    assert [tokens for _, _, tokens in chunks(api)] == [None, None]
    assert api.fail_job(**lease(job), error="nonsense") == "pending"


# Many at once ---------------------------------------------------------------------------------------------------------


@pytest.mark.feature("A13", "E14")
@pytest.mark.parametrize("change", ["update", "delete"])
def test_a_change_waits_for_the_pieces_that_are_being_stored(
    connect: Callable[..., psycopg.Connection], change: str
) -> None:
    worker, client = Api(connect()), Api(connect())
    activate(worker, "ada", "embedding")
    document_id = store(worker)
    statement = {
        "update": "update memory.documents set content = content || ' The end.'",
        "delete": "delete from memory.documents",
    }[change]
    with ThreadPoolExecutor(1) as pool:
        with worker.connection.transaction():
            cut(worker)
            dropping = pool.submit(client.connection.execute, statement)
            with pytest.raises(FutureTimeoutError):
                dropping.result(0.2)
        dropping.result(10)
    if change == "delete":
        assert chunks(worker) == []
    else:
        assert [tokens for _, _, tokens in chunks(worker)] == [None]
        cut(worker)
        assert len(embed(worker)) == 2
        assert embedded(worker) == [f"{document_id}/0", f"{document_id}/1"]


@pytest.mark.feature("A13", "E14")
def test_the_pieces_of_a_text_that_is_being_changed_are_dropped(connect: Callable[..., psycopg.Connection]) -> None:
    worker, client = Api(connect()), Api(connect())
    store(worker)
    job = claim(worker, "chunk_documents")
    with client.connection.transaction():
        client.connection.execute("update memory.documents set content = content || ' The end.'")
        with pytest.raises(psycopg.errors.LockNotAvailable):  # not waited for: the client may wait for the job
            hand_in(worker, job)
    assert hand_in(worker, job) == {"documents": 0, "chunks": 0}
    cut(worker)
    assert "".join(content for _, content, _ in chunks(worker)) == f"{LONG} The end."


@pytest.mark.feature("A13", "E14")
def test_cutting_and_embedding_while_clients_change_documents_ends_with_all_found(
    connect: Callable[..., psycopg.Connection],
) -> None:
    cutter, embedder, *clients = [Api(connect(options="-c deadlock_timeout=50ms")) for _ in range(5)]
    activate(cutter, "ada", "embedding")
    done = threading.Event()

    def write(number: int) -> None:
        ids: list[UUID] = []
        for turn in range(40):
            ids.append(store(clients[number], f"{LONG} {number} {turn}", title=f"turn {turn}"))
            with clients[number].connection.transaction():  # in an order that is not the workers' own
                for document_id in ids[:-4:-1]:
                    clients[number].connection.execute(
                        "update memory.documents set content = content || '!' where document_id = %s", [document_id]
                    )
                    clients[number].add_memory(user_id="ana", content=f"Memory {number} {turn} {document_id}")
            if turn % 3 == 0:
                clients[number].delete_document(user_id="ana", document_id=ids.pop(0))

    def work(api: Api, kinds: list[str]) -> None:
        while not done.is_set():
            for job in api.claim_jobs(worker="test", kinds=kinds):
                finish(api, job)

    def finish(api: Api, job: Any) -> None:
        """As the runners do: a result is handed in until nobody holds what it changes."""
        while True:
            with contextlib.suppress(psycopg.errors.LockNotAvailable):
                if job.kind == "chunk_documents":
                    hand_in(api, job)
                else:
                    complete(api, job, embeddings=[[1.0, 0.5, 0.0]] * len(job.payload["texts"]))
                return

    with ThreadPoolExecutor(5) as pool:
        workers = [pool.submit(work, cutter, ["chunk_documents"]), pool.submit(work, embedder, ["embed", "backfill"])]
        try:
            for writer in [pool.submit(write, number) for number in range(len(clients))]:
                writer.result(60)
        finally:
            done.set()
        for worker in workers:
            worker.result(30)
    store(cutter)  # what was stored at the very moment at which a job ended is found by the next one
    while open_jobs(cutter):
        embed(cutter)
        for job in cutter.claim_jobs(worker="test", kinds=["chunk_documents"]):
            hand_in(cutter, job)
    state = cutter.query("""
        select count(*) filter (where c.token_count is null) as uncut,
          count(*) filter (where not exists (
            select from memory.embeddings as e where e.id = c.document_id || '/' || c.number)) as missing,
          (select count(*) from memory.embeddings where source = 'document') - count(*) as orphans,
          count(distinct c.document_id) - (select count(*) from memory.documents) as lost
        from memory.document_chunks as c
    """)
    assert state == [(0, 0, 0, 0)]


@pytest.mark.feature("A13", "A14")
def test_a_document_stored_while_the_last_job_ends_is_found_by_the_sweep(
    connect: Callable[..., psycopg.Connection],
) -> None:
    worker, client = Api(connect()), Api(connect())
    store(worker)
    job = claim(worker, "chunk_documents")
    with client.connection.transaction():
        store(client)  # a job is running, so none is queued
        hand_in(worker, job)  # and that one cannot see the document yet
    worker.sweep()
    cut(worker)
    assert [tokens for _, _, tokens in chunks(worker)] == [300] * 4


@pytest.mark.feature("A13", "F6")
def test_a_worker_that_dies_while_it_stores_pieces_leaves_the_job_to_another(
    connect: Callable[..., psycopg.Connection],
) -> None:
    worker, other = Api(connect()), Api(connect())
    store(other)
    job = claim(worker, "chunk_documents", lease="1 second")
    with contextlib.suppress(psycopg.OperationalError), worker.connection.transaction():
        worker.complete_job(**lease(job), result={"documents": [{"number": 1, "chunks": pieces(LONG)}]})
        other.query("select pg_terminate_backend(%(pid)s)", pid=worker.connection.info.backend_pid)
        worker.query("select 1")
    assert worker.connection.broken
    assert [tokens for _, _, tokens in chunks(other)] == [None]
    other.connection.execute("update memory.jobs set lease_expires_at = now() - interval '1 second'")
    hand_in(other, claim(other, "chunk_documents"))
    assert len(chunks(other)) == 2
