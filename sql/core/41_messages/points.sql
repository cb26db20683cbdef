-- A message whose content is kept elsewhere, with a placeholder in its place, or the message itself if it stays whole.
-- The caller has checked and masked it, and asks only if memory._may_be_long(). p_messages: the array that it came in,
-- where the call of the tool may stand that it is the result of.
create or replace function memory._shortened(p_message memory.messages, p_policy jsonb, p_messages jsonb)
returns memory.messages
language sql immutable parallel safe
begin atomic
  select p_message;
end;

-- The whole content that a placeholder in a message stands for; null if there is none.
create or replace function memory._whole_content(p_user_id text, p_artifact_key text)
returns text
language sql immutable parallel safe
begin atomic
  select null::text;
end;

-- A message does not name this content any more.
create or replace function memory._check_artifact_soon(p_user_id text, p_key text)
returns void
language sql immutable parallel safe
begin atomic
end;

-- Whether a message of low trust must not be recalled yet, because a model has yet to judge it.
create or replace function memory._awaits_verdict(
  p_user_id text, p_thread_id text, p_seq bigint, p_role text, p_metadata jsonb
)
returns boolean
language sql immutable parallel safe
begin atomic
  select false;
end;

-- Has a model judge texts of low trust, and returns the reason for which they are in quarantine until it has.
create or replace function memory._judge_later(p_user_id text)
returns text
language sql immutable parallel safe
begin atomic
  select null::text;
end;
