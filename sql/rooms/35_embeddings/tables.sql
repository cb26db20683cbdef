-- needs pgvector on the search_path
-- The embeddings of everything that can be searched, by model, and those of queries.
-- Each row of memory.embeddings belongs to one of memory.models (model).
-- Each row of memory.query_embeddings belongs to one of memory.models (model).
create table memory.embeddings (
  user_id text not null,
  model text not null,
  source text not null,
  id text not null,
  agent_id text,
  created_at timestamptz,
  valid_until timestamptz,
  embedding halfvec not null,
  code bit varying,
  primary key (user_id, model, source, id),
  constraint embedding_has_a_direction check (l2_norm(embedding) > 0)
);
-- An embedding is stored plain: it is read as often as its row, and detoasting takes longer than comparing. Eight KB
-- are the room that a page has, which is 4,000 dimensions. The short columns are main: beside an embedding that cannot
-- be moved out PostgreSQL moves those out, and a search that reads a thousand ids takes four times as long.
alter table memory.embeddings
  alter column user_id set storage main,
  alter column model set storage main,
  alter column source set storage main,
  alter column id set storage main,
  alter column agent_id set storage main,
  alter column embedding set storage plain,
  alter column code set storage main;
-- Searches of messages read this index alone: the code of a message takes a tenth of the room of its embedding.
create index embeddings_codes_idx on memory.embeddings (user_id, model, created_at)
  include (id, agent_id, code)
  where source = 'message' and code is not null;
create index embeddings_uncoded_idx on memory.embeddings (user_id, model) where source = 'message' and code is null;
comment on table memory.embeddings is
'One row per searchable text and embedding model, made by jobs of kind embed and backfill. Removed when the text '
'changes or goes.';
comment on column memory.embeddings.user_id is 'The user to whom the row belongs.';
comment on column memory.embeddings.model is 'The name of the embedding model in memory.models.';
comment on column memory.embeddings.source is 'memory, summary, document, message or artifact.';
comment on column memory.embeddings.id is
'A uuid, document_id/number for a piece of a document, thread_id/seq for a message, the key of an artifact.';
comment on column memory.embeddings.agent_id is 'The agent of the memory or message; null for other sources.';
comment on column memory.embeddings.created_at is 'When the memory or message was stored, not the embedding.';
comment on column memory.embeddings.valid_until is
'Until when the memory may be found without filters: the earlier of its expires_at and valid_to, infinity without '
'either, -infinity once it is deleted or superseded.';
comment on column memory.embeddings.embedding is 'The vector that the model made of the text.';
comment on column memory.embeddings.code is
'Of a message: the signs of the embedding, a bit for each dimension. The number of bits in which two codes differ '
'tells nearly how similar two embeddings are, and 384 bits are read sixteen times as fast as 384 numbers.';

create table memory.query_embeddings (
  user_id text not null,
  model text not null,
  query_hash text not null,
  embedding halfvec not null,
  created_at timestamptz not null default statement_timestamp(),
  primary key (user_id, model, query_hash),
  constraint embedding_has_a_direction check (l2_norm(embedding) > 0)
);
alter table memory.query_embeddings
  alter column user_id set storage main,
  alter column model set storage main,
  alter column query_hash set storage main,
  alter column embedding set storage plain;
create index query_embeddings_created_at_idx on memory.query_embeddings (created_at);
comment on table memory.query_embeddings is
'Embeddings of queries, so that the same question is not paid for twice. memory.sweep() removes those older than 30 '
'days.';
comment on column memory.query_embeddings.user_id is 'The user to whom the row belongs.';
comment on column memory.query_embeddings.model is 'The name of the embedding model in memory.models.';
comment on column memory.query_embeddings.query_hash is 'SHA-256 of the query; its words are not kept.';
comment on column memory.query_embeddings.embedding is 'The vector that the model made of the query.';
comment on column memory.query_embeddings.created_at is 'When the row was stored.';

create table memory.texts_to_embed (
  user_id text not null,
  source text not null,
  id text not null,
  entry uuid not null default gen_random_uuid(),
  primary key (user_id, source, id, entry)
);
comment on table memory.texts_to_embed is
'The texts, other than messages, that the active embedding model has still to embed: whoever stores a text adds an '
'entry, and only jobs remove entries of texts that are still there, so that no writer waits for another one.';
comment on column memory.texts_to_embed.user_id is 'The user to whom the row belongs.';
comment on column memory.texts_to_embed.source is 'As in memory.embeddings; empty with an empty id.';
comment on column memory.texts_to_embed.id is
'As in memory.embeddings; empty for all texts of the user that have no embedding yet.';
comment on column memory.texts_to_embed.entry is 'Tells apart the entries of one text.';
