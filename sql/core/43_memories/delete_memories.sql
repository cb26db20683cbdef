create or replace function memory.delete_memories(
  user_id text, memory_ids uuid[] default null, agent_id text default null, thread_id text default null,
  memory_type text default null, tags_all text[] default null, search text default null, filter jsonb default null,
  created_after timestamptz default null, created_before timestamptz default null, dry_run boolean default false
)
returns jsonb
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  chosen uuid[];
  deleted bigint;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_listing(user_id, agent_id, memory_type, search, tags_all, thread_id, filter);
  perform memory._check_deletion('memory_ids', memory_ids, num_nonnulls(agent_id, thread_id, memory_type,
    nullif(tags_all, '{}'), nullif(search, ''), nullif(filter, '{}'), created_after, created_before) > 0, dry_run);
  chosen := memory._memories_to_delete(user_id, memory_ids, agent_id, thread_id, memory_type, tags_all, search, filter,
                                       created_after, created_before);
  deleted := cardinality(chosen);
  if not dry_run and deleted > 0 then
    perform memory._lock_scopes_of(user_id, chosen);
    perform memory._locked_places(user_id, chosen);
    -- Chooses once more, because another session may have changed one of the memories before it was locked: an UPDATE
    -- by hand locks no counter.
    chosen := memory._memories_to_delete(user_id, chosen, agent_id, thread_id, memory_type, tags_all, search, filter,
                                         created_after, created_before);
    deleted := memory._delete_memories(user_id, chosen);
  end if;
  return memory._deletion(deleted, chosen::text[], dry_run);
end;
$$;
comment on function memory.delete_memories(
  text, uuid[], text, text, text, text[], text, jsonb, timestamptz, timestamptz, boolean
) is
'Deletes the memories with these ids, or those under the filters of memory.list_memories(), or those that meet both, '
'as memory.delete_memory() does, all or none. Superseded memories and those in quarantine go as well, because they '
'might come back otherwise. Returns {"count": n, "sample": the ids of the ten newest, "dry_run": false}; with dry_run '
'nothing is deleted. A call without any condition is refused (22023); an empty list of ids deletes nothing.';

-- The memories that meet these conditions, newest first.
create or replace function memory._memories_to_delete(
  p_user_id text, p_memory_ids uuid[], p_agent_id text, p_thread_id text, p_memory_type text, p_tags_all text[],
  p_search text, p_filter jsonb, p_created_after timestamptz, p_created_before timestamptz
)
returns uuid[]
language plpgsql stable parallel safe
set plan_cache_mode = force_custom_plan -- for the reason given in memory.list_memories()
as $$
begin
  return array(
    select l.memory_id
    from memory._listed_memories(p_user_id, p_agent_id, p_memory_type, p_search, p_tags_all, null, true, p_thread_id,
                                 p_filter, p_created_after, p_created_before, true, null, null) as l
    where p_memory_ids is null or l.memory_id = any (p_memory_ids)
    order by l.created_at desc, l.memory_id desc);
end;
$$;
