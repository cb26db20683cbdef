-- What a search needs to choose among very many messages of one user without reading them all. Nothing is filled here:
-- memory.sweep() fills the messages and embeddings that are there already, and until then a search reads all messages.
alter table memory.messages add column search_keys int[];
comment on column memory.messages.search_keys is
'Hashes of the user together with each word of search_vector, each plain value of metadata, and the agent. Filled with search_vector.';
-- A message that was just added has no search_keys and costs this index nothing. A search reads the pending list of the
-- index as a whole, hence the small limit.
create index messages_search_keys_idx on memory.messages using gin (search_keys)
  with (fastupdate = on, gin_pending_list_limit = 128)
  where search_keys is not null;
-- The next sweeps check all messages again and fill search_keys.
delete from memory.marks where kind = 'words';
comment on column memory.marks.position is
'extract_memories and summarize_user: the seq up to which the thread was read. words: the seq up to which all messages are parsed and have search_keys. extractions: how many there were. reconcile_memories, consolidate: the time of the newest memory looked at, in microseconds since 1970.';

alter table memory.embeddings add column code bit varying;
alter table memory.embeddings alter column code set storage main;
comment on column memory.embeddings.code is
'Of a message: the signs of the embedding, a bit for each dimension. The number of bits in which two codes differ tells nearly how similar two embeddings are, and 384 bits are read sixteen times as fast as 384 numbers.';
comment on column memory.embeddings.agent_id is
'That of the memory or message, as is created_at; null for other sources.';
comment on column memory.embeddings.created_at is 'When the memory or message was stored, not the embedding.';
-- Searches read this index alone: the code of a message in it takes a tenth of the room of its embedding.
create index embeddings_codes_idx on memory.embeddings (user_id, model, created_at) include (id, agent_id, code)
  where source = 'message' and code is not null;
create index embeddings_uncoded_idx on memory.embeddings (user_id, model) where source = 'message' and code is null;

create type memory._message_candidates as (
  thread_ids text[], seqs bigint[], texts bigint, frequencies bigint[], lowest double precision,
  deviation double precision
);
comment on type memory._message_candidates is
'The messages that enter a ranking, and, if these are not all messages that may be found: how many texts there are, how many of them have each word of the query, the lowest similarity, and the standard deviation of similarities; all four estimated.';
