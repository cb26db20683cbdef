create type memory._recalled as (
  thread_id text, seq bigint, line text, token_count int, said_on date, said_at timestamptz, score real, of_hit bigint,
  wording text, keys text[]
);
comment on type memory._recalled is
'A message that a context may recall: the line that is shown and its tokens; when it was said (said_on by UTC); how well it matches, null for a neighbour; the place of the hit that it stands next to; and its wording, by which repetitions are found.';
