-- The classes that a policy has masked: in texts of a thread (p_is_thread), or in other texts.
create or replace function memory._masks(p_policy jsonb, p_is_thread boolean)
returns text[]
language sql stable parallel safe
begin atomic
  select translate(p_policy #>> '{masking,classes}', '[]"', '{}')::text[] -- names of classes need no quotes
    || case when p_is_thread and (p_policy #>> '{secrets,mask_in_threads}')::boolean then '{credential}' else '{}' end
      ::text[];
end;

-- The classes that the policy of a user and an agent has masked in texts that are no messages.
create or replace function memory._masks_of(p_user_id text, p_agent_id text)
returns text[]
language plpgsql stable parallel safe
as $$
begin
  return memory._masks(
    jsonb_build_object('masking', memory._policy_section(p_user_id, p_agent_id, 'masking')), false);
end;
$$;

-- Masks a remark about a row or a job, such as a reason or an error. Credentials in the remark are masked under any
-- policy, because nobody needs them to understand the reason.
create or replace function memory._masked_note(p_user_id text, p_agent_id text, p_note text)
returns text
language plpgsql stable parallel unsafe
as $$
begin
  return case when p_note <> '' then
    memory._masked(p_note, '{credential}' || memory._masks_of(p_user_id, p_agent_id)) else p_note end;
end;
$$;
