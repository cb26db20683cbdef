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
  rank bigint, source text, id text, space text, thread_id text, number bigint, created_at timestamptz, score real,
  explanation jsonb, relevance real
);
comment on type memory.ranking is
'A row of a ranking, within a search. space is the user_id of the space whose text it is, null for the user''s own.';

create type memory._candidate as (
  user_id text, source text, id text, thread_id text, number bigint, created_at timestamptz,
  similarity double precision, matched int[], lexemes int
);
comment on type memory._candidate is
'A text that a search may find, with its similarity to the query, the numbers of the words of the query that '
'it has (null: none), and how many words it has.';
