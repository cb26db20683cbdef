create type memory._source_text as (
  id text, thread_id text, number bigint, agent_id text, created_at timestamptz, valid_until timestamptz, said text,
  embedded text
);
comment on type memory._source_text is
'A text as its source has it: a row of memory.texts, with the text by which it is found by words (said) and the text '
'that models embed (null where none is).';
