-- needs pgvector on the search_path
-- What is searched: a row for each text of any source that a search may find, and the embeddings of queries.
-- A row of memory.texts may name one of memory.models (model).
-- Each row of memory.embeddings belongs to one of memory.texts (user_id, source, id).
-- Each row of memory.embeddings belongs to one of memory.models (model).
-- Each row of memory.query_embeddings belongs to one of memory.models (model).
create table memory.texts (
  user_id text not null, -- user
  source text not null, -- word
  id text not null, -- place
  thread_id text, -- thread
  number bigint, -- number
  agent_id text, -- agent
  created_at timestamptz not null, -- time
  valid_until timestamptz not null, -- time or never
  words tsvector not null, -- made
  keys int[], -- made
  hash uuid, -- hash
  model text, -- model
  embedding halfvec, -- made
  code bit varying, -- made
  tokens int, -- made
  primary key (user_id, source, id),
  constraint embedding_has_a_direction check (l2_norm(embedding) > 0),
  constraint embedding_has_a_model check ((embedding is null) = (model is null))
);
-- An embedding is stored plain: it is read as often as its row, and detoasting takes longer than comparing. Eight KB
-- are the room that a page has, which is 4,000 dimensions. The short columns are main: beside an embedding that cannot
-- be moved out PostgreSQL moves those out, and a search that reads a thousand ids takes four times as long.
alter table memory.texts
  alter column user_id set storage main,
  alter column source set storage main,
  alter column id set storage main,
  alter column thread_id set storage main,
  alter column agent_id set storage main,
  alter column model set storage main,
  alter column embedding set storage plain,
  alter column code set storage main;
-- Searches of very many messages read this index alone: a code takes a tenth of the room of its embedding.
create index texts_codes_idx on memory.texts (user_id, model, created_at)
  include (id, thread_id, agent_id, valid_until, code)
  where code is not null;
-- A search reads the pending list of the index as a whole, hence the small limit.
create index texts_keys_idx on memory.texts using gin (keys) with (gin_pending_list_limit = 512) where keys is not null;
-- The work of jobs of kind embed.
create index texts_unembedded_idx on memory.texts (user_id, source, thread_id)
  where embedding is null and hash is not null and valid_until > '-infinity';
comment on table memory.texts is
'One row per text that a search may find, kept by triggers and jobs: a message has its row once a job has read the '
'message.';
comment on column memory.texts.user_id is 'The user to whom the row belongs.';
comment on column memory.texts.source is 'memory, summary, document, message or artifact.';
comment on column memory.texts.id is
'A uuid, document_id/number for a piece of a document, thread_id/seq for a message, key/first_byte for a part of an '
'artifact.';
comment on column memory.texts.thread_id is 'The thread of that user; null where no thread is concerned.';
comment on column memory.texts.number is
'The seq of a message, the number of a piece, the first byte of a part; null for other sources.';
comment on column memory.texts.agent_id is
'The agent of that user; null for a text of no agent, which is found for each, empty for a text of several.';
comment on column memory.texts.created_at is 'When the source was stored.';
comment on column memory.texts.valid_until is
'Until when a search without filters may find the text: -infinity once it is deleted, superseded or in quarantine.';
comment on column memory.texts.words is
'The words for keyword search, of a message also its date and the name of its speaker.';
comment on column memory.texts.keys is
'Of a message: hashes of the user together with each word, by which a search finds the messages of one user among '
'those of all.';
comment on column memory.texts.hash is 'MD5 of the text that is embedded; null for a text that is not embedded.';
comment on column memory.texts.model is 'The name in memory.models of the model that made the embedding.';
comment on column memory.texts.embedding is
'The vector that the model made of the text; null until a job has embedded the text.';
comment on column memory.texts.tokens is
'Of a memory that is embedded by its content: the exact tokens of the content; null where no job has counted them.';
comment on column memory.texts.code is
'Of a message: the signs of the embedding, a bit for each dimension. The number of bits in which two codes differ '
'tells nearly how similar two embeddings are, and 384 bits are read sixteen times as fast as 384 numbers.';

create table memory.embeddings (
  user_id text not null, -- user
  source text not null, -- word
  id text not null, -- place
  model text not null, -- model
  hash uuid not null, -- hash
  embedding halfvec not null, -- made
  primary key (user_id, source, id, model),
  constraint embedding_has_a_direction check (l2_norm(embedding) > 0)
);
alter table memory.embeddings
  alter column user_id set storage main,
  alter column source set storage main,
  alter column id set storage main,
  alter column model set storage main,
  alter column embedding set storage plain;
create index embeddings_model_idx on memory.embeddings (model, user_id, source, id);
comment on table memory.embeddings is
'The embeddings by another model than the one in memory.texts: of a model that is being filled before it becomes '
'active, or of the one that was active before.';
comment on column memory.embeddings.user_id is 'The user to whom the row belongs.';
comment on column memory.embeddings.source is 'As in memory.texts.';
comment on column memory.embeddings.id is 'As in memory.texts.';
comment on column memory.embeddings.model is 'The name of the embedding model in memory.models.';
comment on column memory.embeddings.hash is 'MD5 of the text that was embedded.';
comment on column memory.embeddings.embedding is 'The vector that the model made of the text.';

create table memory.query_embeddings (
  user_id text not null, -- user
  model text not null, -- model
  query_hash text not null, -- hash
  embedding halfvec not null, -- made
  created_at timestamptz not null default statement_timestamp(), -- time
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
