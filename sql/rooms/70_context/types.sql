-- The rows that functions of contexts return, and the rows that their steps pass to each other.
create type memory.context_part as (
  ordinal int, role text, content text, source text, token_count int, metadata jsonb
);
comment on type memory.context_part is 'A part of a context, as memory.get_context() returns it.';

create type memory.memory_need as (decision text, reason text, details jsonb);
comment on type memory.memory_need is
'What memory.needs_memory() returns: skip or search, the reason in words, and the score of each sign.';

create type memory._passage as (key text, content_id uuid, first_byte int, end_byte int, score double precision);
comment on type memory._passage is
'A place in an artifact that says something of a query: end_byte is the byte after its last one, score is from 0 to '
'1.';

create type memory._recalled as (
  thread_id text, seq bigint, line text, token_count int, said_on date, said_at timestamptz, score real,
  of_hit bigint, wording text, keys text[]
);
comment on type memory._recalled is
'A message that a context may recall: the line that is shown and its tokens; when it was said (said_on by UTC); how '
'well it matches, null for a neighbour; the place of the hit that it stands next to; and its wording, by which '
'repetitions are found.';
