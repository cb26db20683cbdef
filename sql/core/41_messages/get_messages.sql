create or replace function memory.get_messages(
  user_id text, thread_id text, recent_k int default null, after_seq bigint default null,
  before_seq bigint default null, agent_id text default null, include_inactive boolean default false,
  roles text[] default null, filter jsonb default null, created_after timestamptz default null,
  created_before timestamptz default null, whole boolean default false
)
returns setof memory.message
language plpgsql stable parallel unsafe security definer
set search_path = pg_catalog, pg_temp
-- The function reads from the end of the thread backwards, and stops when it has found recent_k messages. A plan for
-- the values of a filter may read and sort the whole thread instead.
set plan_cache_mode = force_generic_plan
as $$
begin
  perform memory._check_reader(user_id);
  perform memory._check_id('thread_id', thread_id);
  perform memory._check_id('agent_id', coalesce(agent_id, 'any'));
  if recent_k < 1 then
    perform memory._refuse('recent_k', format('%s is less than 1', recent_k), 'Leave it out for the whole thread.');
  end if;
  perform memory._check_filter(filter);
  roles := memory._checked_roles(roles);
  if agent_id is not null and not memory._has_memory(user_id, agent_id) then
    perform memory._note_missing_resource(agent_id, 'memory', 'nothing is recalled');
    return;
  end if;
  return query
  select r.seq, r.role, coalesce(w.content, r.content), r.agent_id,
    case when r.files is null then d.metadata else memory._with_files(d.metadata, r.files) end,
    case when w.content is null then r.token_count else memory._estimated_tokens(w.content, r.metadata) end,
    r.created_at, memory._real_or_null(r.expires_at), r.is_active
  from (select * from memory.messages as m
        where m.user_id = get_messages.user_id and m.thread_id = get_messages.thread_id
          and m.seq > coalesce(after_seq, -1) and m.seq < coalesce(before_seq, 9223372036854775807)
          and (get_messages.agent_id is null or m.agent_id = get_messages.agent_id)
          and (include_inactive or case when whole
            then memory._is_readable_message(m.is_active, m.summary_id, m.expires_at)
            else memory._is_current_message(m.is_active, m.expires_at) end)
          and memory._is_chosen_message(m, get_messages.roles, filter, created_after, created_before)
        order by m.seq desc limit recent_k) as r
  cross join lateral (
    select case when whole and r.artifact_key is not null
      then memory._whole_content(r.user_id, r.artifact_key) end as content offset 0) as w
  cross join lateral (
    select case when w.content is null then r.metadata else memory._with_text(r.metadata, w.content) end as metadata
  ) as d
  order by r.seq;
end;
$$;
comment on function memory.get_messages(
  text, text, int, bigint, bigint, text, boolean, text[], jsonb, timestamptz, timestamptz, boolean
) is
'Messages of a thread, oldest first: all, the last recent_k, or those after or before a seq. roles, filter (a part of '
'their metadata), created_after, created_before and agent_id choose among them before recent_k counts. '
'include_inactive also shows cleared and expired messages until memory.sweep() removes them. whole shows the thread as '
'it was added: also messages that a compression put away, and whole contents in place of placeholders. expires_at is '
'null for a message that never expires.';

-- Whether these filters choose a message.
create or replace function memory._is_chosen_message(
  p_message memory.messages, p_roles text[], p_filter jsonb, p_created_after timestamptz, p_created_before timestamptz
)
returns boolean
language sql immutable parallel safe
begin atomic
  select (p_roles is null or (p_message).role = any (p_roles))
    and (p_created_after is null or (p_message).created_at > p_created_after)
    and (p_created_before is null or (p_message).created_at < p_created_before)
    and (p_filter is null or (p_message).metadata @> p_filter);
end;

-- The roles of a filter, in the spelling of stored messages. Refuses unknown roles.
create or replace function memory._checked_roles(p_roles text[])
returns text[]
language plpgsql immutable parallel safe
as $$
begin
  if p_roles is null then
    return null;
  end if;
  perform memory._check_list('roles', p_roles);
  perform memory._refuse_role('roles', r) from unnest(p_roles) as r where not memory._is_role(memory._role(r)) limit 1;
  return array(select memory._role(r) from unnest(p_roles) as r);
end;
$$;
