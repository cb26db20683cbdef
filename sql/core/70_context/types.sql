-- needs pgvector on the search_path

-- The rows that functions of contexts return, and the rows that their steps pass to each other.
create type memory.context_part as (
  ordinal int, role text, content text, source text, token_count int, metadata jsonb
);
comment on type memory.context_part is 'A part of a context, as memory.get_context() returns it.';

create type memory.memory_need as (decision text, reason text, details jsonb);
comment on type memory.memory_need is
'What memory.needs_memory() returns: skip or search, the reason in words, and the score of each sign.';

create type memory._asking as (
  user_id text, thread_id text, agent_id text, query text, model text, target halfvec, policy jsonb, layout text,
  explains boolean, spaces text[], filters memory._search_filters, near double precision, why_no_recall text
);
comment on type memory._asking is
'What a context is made for: target is the embedding of the query by the model, policy the effective settings, spaces '
'the user_ids of the spaces that are shown as well, filters what its memories must pass (null: all), near the '
'relevance from which on something has to do with the query, why_no_recall the reason for which no messages are '
'recalled (null: they are).';

create type memory._offer as (
  place int, seq bigint, source text, id text, role text, content text, token_count int, metadata jsonb, why_not text,
  kind text, said_at timestamptz
);
comment on type memory._offer is
'What a context may show: a part, or one line of a part. place and seq say where the part stands (rendered.sql), id '
'names it as search does, a message of the thread by its seq, why_not says why it is left out (null: it is shown). '
'Of a line of memories kind is the type of the memory, and said_at when it was said.';

create type memory._unit as (oldest bigint, newest bigint, tokens int, begins boolean);
comment on type memory._unit is
'Messages of a thread that a context shows together: the seq of the oldest and of the newest of them, the tokens of '
'this unit and all newer ones, and whether the user says its oldest message.';

create type memory._recalled as (
  thread_id text, seq bigint, line text, token_count int, said_on date, said_at timestamptz, score real,
  relevance real, of_hit bigint, wording text, passage int[], why_not text
);
comment on type memory._recalled is
'A message that a context may recall: the line that is shown and its tokens; when it was said (said_on is the '
'speaker''s day); how well it matches, null for a neighbour; the place of the hit that it stands next to; its '
'wording, by which repetitions are found; of a passage, where it begins and how long it is; and why the message is '
'left out (null: it is shown).';
