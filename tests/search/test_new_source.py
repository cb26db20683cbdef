"""A file of sql/rooms/47_sources is a source of search: the build makes the lists of sources from the files."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from tests.support.installer import build_version, install, open_as
from tests.support.protocol import activate, claim, complete
from tests.support.sqlapi import Api

SOURCE = "rooms/47_sources/note.sql"
TABLE = """
create table memory.notes (
  user_id text not null,
  note_id uuid not null default gen_random_uuid(),
  content text not null,
  search_vector tsvector not null,
  created_at timestamptz not null default statement_timestamp(),
  primary key (user_id, note_id)
);
"""
WRITES = """
create or replace function memory._note_before_write()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  new.search_vector := memory._text_vector(
    (memory._policy(new.user_id, null) #>> '{search,language}')::regconfig, new.content);
  return new;
end;
$$;

create or replace function memory._note_after_write()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'INSERT' then
    perform memory._drop_embeddings(old.user_id, 'note', array[old.note_id::text]);
  end if;
  if tg_op <> 'DELETE' then
    perform memory._enqueue_embedding(new.user_id, '', 'note', array[new.note_id::text]);
  end if;
  return null;
end;
$$;
"""
TRIGGERS = """
create trigger note_100_before_write
before insert or update on memory.notes
for each row
execute function memory._note_before_write();

create trigger note_200_after_write
after insert or update or delete on memory.notes
for each row
execute function memory._note_after_write();
"""
FUNCTIONS = """
create or replace function memory._note_owners()
returns setof text
language sql stable parallel safe
begin atomic
  select n.user_id from memory.notes as n;
end;

create or replace function memory._note_embeddable(p_user_id text, p_scope text)
returns setof text
language sql stable parallel safe
begin atomic
  select n.note_id::text from memory.notes as n where n.user_id = p_user_id and coalesce(p_scope, '') = '';
end;

create or replace function memory._note_texts(p_user_id text, p_sources text[], p_ids text[])
returns table (id text, text text)
language sql stable parallel safe
begin atomic
  select k.id, t.text
  from unnest(p_sources, p_ids) as k (source, id)
  cross join lateral (
    select left(n.content, 24000) as text from memory.notes as n
    where n.user_id = p_user_id and n.note_id = k.id::uuid offset 0) as t
  where k.source = 'note';
end;

create or replace function memory._note_lock(p_user_id text, p_ids text[])
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform from memory.notes as n
  where n.user_id = p_user_id and n.note_id = any (p_ids::uuid[])
  order by n.note_id for share nowait;
end;
$$;

create or replace function memory._note_searchable(
  p_user_id text, p_sources text[], p_agent_id text, p_filters memory._search_filters, p_unfiltered boolean,
  p_compares_words boolean
)
returns table (
  source text, id text, thread_id text, number bigint, created_at timestamptz, vector tsvector, content text,
  metadata jsonb
)
language sql stable parallel safe
begin atomic
  select 'note', n.note_id::text, null::text, null::bigint, n.created_at, n.search_vector, null::text, null::jsonb
  from memory.notes as n
  where n.user_id = p_user_id and 'note' = any (p_sources)
    and p_agent_id is null and (p_filters).filter is null
    and n.created_at <= coalesce((p_filters).as_of, 'infinity');
end;

create or replace function memory._note_shown(
  p_user_id text, p_id text, p_thread_id text, p_number bigint, p_filters memory._search_filters, p_query text
)
returns table (id text, thread_id text, content text, metadata jsonb, details jsonb, valid_from timestamptz)
language sql stable parallel safe
begin atomic
  select p_id, null::text, n.content, jsonb '{}', jsonb '{}', n.created_at
  from memory.notes as n where n.user_id = p_user_id and n.note_id = p_id::uuid;
end;
"""
FILES = {
    "rooms/45_notes/tables.sql": TABLE,
    "rooms/45_notes/writes.sql": WRITES,
    "rooms/45_notes/triggers.sql": TRIGGERS,
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
    db.execute("insert into memory.notes (user_id, content) values ('ana', 'Green tea is out'), ('bob', 'No tea')")
    assert found(api, query="tea", mode="keyword") == [("note", "Green tea is out")]

    jobs = {job.user_id: job for job in api.claim_jobs(worker="test", kinds=["embed"], max_jobs=2)}
    assert complete(api, jobs["ana"], embeddings=[[1.0, 0.0]])["embedded"] == 1
    assert found(api, query_embedding="[1,0]", mode="vector") == [("note", "Green tea is out")]

    db.execute("update memory.notes set content = 'Coffee' where user_id = 'ana'")
    assert found(api, query="tea", mode="keyword") == found(api, query_embedding="[1,0]", mode="vector") == []
    assert [text["text"] for text in claim(api, "embed").payload["texts"]] == ["Coffee"]

    db.execute("delete from memory.jobs")  # As if the note had been stored at the moment at which the job ended.
    api.sweep()
    jobs = {job.user_id: job for job in api.claim_jobs(worker="test", kinds=["embed"], max_jobs=2)}
    assert [text["text"] for text in jobs["ana"].payload["texts"]] == ["Coffee"]


@pytest.mark.feature("E4")
@pytest.mark.parametrize("missing", ["owners", "embeddable", "lock", "searchable", "shown"])
def test_a_source_without_one_of_its_functions_is_not_built(tmp_path: Path, missing: str) -> None:
    files = FILES | {SOURCE: FUNCTIONS.replace(f"_note_{missing}(", f"_other_{missing}(")}
    with pytest.raises(SystemExit, match=rf"note\.sql must create memory\._note_{missing}\(\)"):
        build_version(tmp_path, files)
