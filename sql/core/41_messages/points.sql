-- The message in the form in which it is stored: with a placeholder if its content is kept elsewhere, or p_message
-- itself if it stays whole. The caller has checked and masked p_message, and calls the function only if
-- memory._may_be_long() is true. p_messages is the array in which the message came; if the message is the result of a
-- tool, the call of that tool may be in this array.
create or replace function memory._shortened(p_message memory.messages, p_policy jsonb, p_messages jsonb)
returns memory.messages
language sql immutable parallel safe
begin atomic
  select p_message;
end;

-- The whole content for which a placeholder in a message stands; null if there is none.
create or replace function memory._whole_content(p_user_id text, p_artifact_key text)
returns text
language sql immutable parallel safe
begin atomic
  select null::text;
end;

-- An add-on's version of this function hears that a message no longer names the content with this key. The content can
-- be deleted if nothing else names it.
create or replace function memory._check_artifact_soon(p_user_id text, p_key text)
returns void
language sql immutable parallel safe
begin atomic
end;

-- Whether a message of low trust must not be recalled yet, because a model has not judged it yet.
create or replace function memory._awaits_verdict(
  p_user_id text, p_thread_id text, p_seq bigint, p_role text, p_metadata jsonb
)
returns boolean
language sql immutable parallel safe
begin atomic
  select false;
end;

-- Queues a job in which a model judges the user's texts of low trust. Returns the reason for which such a text is in
-- quarantine until the model has judged it; null if texts need not wait. Without add-ons the result is null.
create or replace function memory._judge_later(p_user_id text)
returns text
language sql immutable parallel safe
begin atomic
  select null::text;
end;
