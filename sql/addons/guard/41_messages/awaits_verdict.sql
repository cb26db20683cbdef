-- Up to which message of a thread the screen model has judged those of low trust; -1 for none.
create or replace function memory._screened_up_to(p_user_id text, p_thread_id text)
returns bigint
language sql stable parallel safe
begin atomic
  select coalesce((
    select k.position from memory.marks as k
    where k.user_id = p_user_id and k.scope = p_thread_id and k.kind = 'screen_texts'), -1);
end;

-- Whether a message of low trust must not be recalled yet, because the screen model has yet to judge it. Its own thread
-- shows it: a model needs the answer of a tool that it has just called.
create or replace function memory._awaits_verdict(
  p_user_id text, p_thread_id text, p_seq bigint, p_role text, p_metadata jsonb
)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  if not memory._is_low(memory._message_trust(p_role, p_metadata)) then -- so that no statement runs for most messages
    return false;
  end if;
  return (memory._policy_section(p_user_id, null, 'trust') ->> 'screen')::boolean
    and p_seq > memory._screened_up_to(p_user_id, p_thread_id);
end;
$$;
