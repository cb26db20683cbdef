-- The rows that a search returns, and the rows that its steps pass to each other.
create type memory.search_result as (
  source text, id text, thread_id text, content text, score real, metadata jsonb, created_at timestamptz,
  details jsonb, valid_from timestamptz, relevance real
);
comment on type memory.search_result is 'A result of memory.search().';
comment on column memory.search_result.valid_from is
'When it held or happened, where that is known: of a message when it was said, of a memory from when it holds.';
comment on column memory.search_result.relevance is
'How much the text has to do with the query, 0 to 1, comparable between queries and users; null where nothing can be '
'said.';

create type memory.ranking as (
  rank bigint, source text, id text, thread_id text, number bigint, created_at timestamptz, score real,
  explanation jsonb, relevance real
);
comment on type memory.ranking is
'A row of a ranking, within a search. In a search with spaces thread_id of a memory or a document is the user_id of '
'its space, null for the user''s own.';

create type memory._preselected as (ids text[], texts bigint, frequencies bigint[], lowest double precision);
comment on type memory._preselected is
'The messages that enter a ranking, and, if these are not all messages that may be found: how many there are, how many '
'of them have each word of the query, and the lowest similarity; all three estimated.';

create type memory._candidate as (
  source text, id text, thread_id text, number bigint, created_at timestamptz, similarity double precision,
  vector tsvector, lexemes int
);
comment on type memory._candidate is
'A text that a search may find, with its similarity to the query and the number of its words; with its words if one '
'of them is in the query. thread_id is that of memory.ranking.';

create type memory._scored as (
  source text, id text, thread_id text, number bigint, created_at timestamptz, similarity double precision,
  terms jsonb, vector_rank bigint, keyword_rank bigint, words double precision, meaning double precision,
  near double precision, neighbour double precision, length double precision, speaker double precision,
  day double precision, reply double precision, use double precision, relevance real, score double precision
);
comment on type memory._scored is
'A text with its features (scored_texts.sql and judged_texts.sql), its relevance and its score; terms are the query''s '
'words that it has, with their idf.';
