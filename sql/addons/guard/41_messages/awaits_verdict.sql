-- The seq up to which the screen model has judged the messages of low trust of a thread; -1 for none.
create or replace function memory._screened_up_to(p_user_id text, p_thread_id text)
returns bigint
language sql stable parallel safe
begin atomic
  select coalesce((
    select k.position from memory.marks as k
    where k.user_id = p_user_id and k.scope = p_thread_id and k.kind = 'screen_texts'), -1);
end;

-- Whether a message of low trust must not be recalled yet, because the screen model has not judged it yet. Its own
-- thread shows it, because a model needs the answer of a tool that it has just called.
create or replace function memory._awaits_verdict(
  p_user_id text, p_thread_id text, p_seq bigint, p_role text, p_metadata jsonb
)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  if not memory._is_low(memory._message_trust(p_role, p_metadata)) then -- most messages end here without a statement
    return false;
  end if;
  return (memory._policy_section(p_user_id, null, 'trust') ->> 'screen')::boolean
    and p_seq > memory._screened_up_to(p_user_id, p_thread_id);
end;
$$;
