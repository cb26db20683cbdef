-- The rows that a search returns, and the rows that its steps pass to each other.
create type memory.search_result as (
  source text, id text, thread_id text, content text, score real, metadata jsonb, created_at timestamptz,
  details jsonb, valid_from timestamptz
);
comment on type memory.search_result is 'A result of memory.search().';
comment on column memory.search_result.valid_from is
'When it held or happened, where that is known: of a message when it was said, of a memory from when it holds.';

create type memory.ranking as (
  rank bigint, source text, id text, thread_id text, number bigint, created_at timestamptz, score real,
  explanation jsonb
);
comment on type memory.ranking is
'A row of a ranking, within a search. In a search with spaces thread_id of a memory or a document is the user_id of '
'its space, null for the user''s own.';

create type memory._message_candidates as (
  thread_ids text[], seqs bigint[], texts bigint, frequencies bigint[], lowest double precision,
  deviation double precision
);
comment on type memory._message_candidates is
'The messages that enter a ranking, and, if these are not all messages that may be found: how many texts there are, '
'how many of them have each word of the query, the lowest similarity, and the standard deviation of similarities; '
'all four estimated.';

create type memory._candidate as (
  source text, id text, thread_id text, number bigint, created_at timestamptz, similarity double precision,
  vector tsvector, content text, metadata jsonb
);
comment on type memory._candidate is
'A text that a search may find, with its similarity to the query; with its words if one of them is in the query; with '
'its content and metadata if its words are not parsed yet. thread_id is that of memory.ranking.';

create type memory._scored as (
  source text, id text, thread_id text, number bigint, created_at timestamptz, similarity double precision,
  keyword double precision, terms jsonb, vector_rank bigint, keyword_rank bigint, keyword_share double precision,
  keyword_around double precision, keyword_weight double precision, score double precision,
  neighbour double precision, reply double precision, speaker double precision, dates double precision,
  newer double precision, result double precision
);
comment on type memory._scored is
'A text with its score (result) and with everything that the explanation of a search names.';
