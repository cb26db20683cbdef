"""A file of sql/core/47_sources is a source of search: the build makes the lists of sources from the files."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from tests.support.installer import build_version, install, open_as
from tests.support.protocol import activate, claim, complete
from tests.support.sqlapi import Api

SOURCE = "core/47_sources/note.sql"
TABLE = """
create table memory.notes (
  user_id text not null, -- user
  note_id uuid not null default gen_random_uuid(), -- id
  content text not null, -- text
  metadata jsonb not null default '{}', -- wording
  created_at timestamptz not null default statement_timestamp(), -- time
  primary key (user_id, note_id)
);
"""
TRIGGERS = """
create trigger note_300_text_after_write
after insert or update or delete on memory.notes
for each row
execute function memory._note_text_after_write();
"""
FUNCTIONS = """
create or replace function memory._note_texts(p_user_id text, p_ids text[])
returns setof memory._source_text
language sql stable parallel safe
begin atomic
  select i.id, null::text, null::bigint, null::text, n.created_at, 'infinity'::timestamptz, n.content,
    left(n.content, 24000)
  from unnest(p_ids) as i (id)
  cross join lateral (
    select * from memory.notes as n where n.user_id = p_user_id and n.note_id = i.id::uuid offset 0) as n;
end;

create or replace function memory._note_passing(p_user_id text, p_filters memory._search_filters)
returns setof text
language sql stable parallel safe
begin atomic
  select n.note_id::text from memory.notes as n where n.user_id = p_user_id and n.metadata @> (p_filters).filter;
end;

create or replace function memory._note_shown(
  p_user_id text, p_id text, p_thread_id text, p_number bigint, p_filters memory._search_filters, p_query text
)
returns table (id text, thread_id text, content text, metadata jsonb, details jsonb, valid_from timestamptz)
language sql stable parallel safe
begin atomic
  select p_id, null::text, n.content, n.metadata, jsonb '{}', n.created_at
  from memory.notes as n where n.user_id = p_user_id and n.note_id = p_id::uuid;
end;

create or replace function memory._note_text_after_write()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._store_texts(
    coalesce(new.user_id, old.user_id), 'note', array[coalesce(new.note_id, old.note_id)::text]);
  return null;
end;
$$;
"""
FILES = {
    "core/45_notes/tables.sql": TABLE,
    "core/45_notes/registry.toml": '[notes]\nnot_exported = "notes of a test"\n',
    "core/45_notes/triggers.sql": TRIGGERS,
    SOURCE: FUNCTIONS,
}


def found(api: Api, **query: object) -> list[tuple[str, str]]:
    return [(row.source, row.content) for row in api.search(user_id="ana", sources=["memory", "note"], **query)]


@pytest.mark.feature("E4")
def test_a_file_is_a_source_of_search(empty_dsn: str, tmp_path: Path) -> None:
    install(empty_dsn, build_version(tmp_path, FILES))
    with open_as(empty_dsn) as db:
        is_a_source_of_search(db)


def is_a_source_of_search(db: psycopg.Connection) -> None:
    api = Api(db)
    activate(api, "embedder", kind="embedding")
    db.execute(
        "insert into memory.notes (user_id, content, metadata) "
        "values ('ana', 'Green tea is out', '{\"shelf\": 1}'), ('bob', 'No tea', '{}')"
    )
    assert found(api, query="tea", mode="keyword") == [("note", "Green tea is out")]
    assert found(api, query="tea", mode="keyword", filter={"shelf": 1}) == [("note", "Green tea is out")]
    assert found(api, query="tea", mode="keyword", filter={"shelf": 2}) == []

    jobs = {job.user_id: job for job in api.claim_jobs(worker="test", kinds=["embed"], max_jobs=2)}
    assert complete(api, jobs["ana"], embeddings=[[1.0, 0.0]])["embedded"] == 1
    assert found(api, query_embedding="[1,0]", mode="vector") == [("note", "Green tea is out")]

    db.execute("update memory.notes set content = 'Häuser' where user_id = 'ana'")
    assert found(api, query="tea", mode="keyword") == found(api, query_embedding="[1,0]", mode="vector") == []
    assert [text["text"] for text in claim(api, "embed").payload["texts"]] == ["Häuser"]

    db.execute("delete from memory.jobs")  # As if the note had been stored at the moment at which the job ended.
    api.sweep()
    jobs = {job.user_id: job for job in api.claim_jobs(worker="test", kinds=["embed"], max_jobs=2)}
    assert [text["text"] for text in jobs["ana"].payload["texts"]] == ["Häuser"]

    api.set_policy(settings={"search": {"language": "german"}}, user_id="ana")
    complete(api, claim(api, "parse_artifacts"), max_bytes=4000000)
    assert api.value("select words::text from memory.texts where user_id = 'ana'") == "'haus':1"
    db.execute("delete from memory.notes where user_id = 'ana'")
    assert api.query("select from memory.texts where user_id = 'ana'") == []


@pytest.mark.feature("E4")
@pytest.mark.parametrize("missing", ["texts", "shown"])
def test_a_source_without_one_of_its_functions_is_not_built(tmp_path: Path, missing: str) -> None:
    files = FILES | {SOURCE: FUNCTIONS.replace(f"_note_{missing}(", f"_other_{missing}(")}
    with pytest.raises(SystemExit, match=rf"note\.sql must create memory\._note_{missing}\(\)"):
        build_version(tmp_path, files)
