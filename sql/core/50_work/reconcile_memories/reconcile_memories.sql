create or replace function memory.reconcile_memories(
  user_id text, n int default 50, dry_run boolean default false
)
returns bigint
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  if (n between 2 and 1000) is not true then
    perform memory._refuse('n', format('%s is not between 2 and 1000', coalesce(n::text, 'null')),
      '50 is the default.');
  end if;
  return memory._enqueue(user_id, 'reconcile_memories', '', jsonb_build_object('n', n), memory._variant_of(dry_run));
end;
$$;
comment on function memory.reconcile_memories(text, int, boolean) is
'Queues a search for duplicates and contradictions among the n newest facts of a user and returns the job id. Facts '
'are superseded by the rules of docs/reconciliation.md, never lost; the job''s result counts kept, merged, '
'contradicted and refused. Every cadence.reconcile_every_n-th extraction queues it by itself. With dry_run nothing '
'changes, and the result of the job also has the proposal: what would end, and why.';
