create or replace function memory.reconcile_memories(user_id text, n int default 50)
returns bigint
language plpgsql volatile parallel unsafe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  if (n between 2 and 1000) is not true then
    perform memory._refuse('n', format('%s is not between 2 and 1000', coalesce(n::text, 'null')), '50 is the default.');
  end if;
  return memory._enqueue(user_id, 'reconcile_memories', '', jsonb_build_object('n', n));
end;
$$;
comment on function memory.reconcile_memories(text, int) is
'Queues one look over the n newest facts of a user and returns the job id: of duplicates the one that says most '
'stays, of contradicting facts the newer, then the more confident; losers are superseded, never lost. The rules by '
'which a model''s word is checked are in docs/concepts.md; what breaks them is left alone. The job''s result has '
'kept, merged, contradicted and refused. Happens by itself with every cadence.reconcile_every_n-th extraction.';
