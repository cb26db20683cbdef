-- Extraction has read a message if its thread's watermark (memory.marks, kind extract_memories) has reached it.

-- Whether extraction will read a message when it reaches the message: a person or an assistant said it, and nobody has
-- cleared it. A message may expire before it is read, because the store or its worker was off. Such a message waits for
-- its job four times as long as it lived, at most 30 days; nobody else sees it. A message with a lifetime of less than
-- a day does not wait, because a caller who gives such a short life wants the message gone.
create or replace function memory._awaits_extraction(p_message memory.messages)
returns boolean
language sql stable parallel safe
begin atomic
  select (p_message).role in ('user', 'assistant')
    and memory._is_kept_message((p_message).is_active, (p_message).summary_id)
    and case
      when (p_message).expires_at > statement_timestamp() then true
      when memory._is_real_moment((p_message).created_at) and memory._is_real_moment((p_message).expires_at) then
        (p_message).expires_at - (p_message).created_at >= interval '1 day'
        and statement_timestamp() < (p_message).expires_at
          + least(interval '30 days', 4 * ((p_message).expires_at - (p_message).created_at))
      else false end;
end;

-- Whether a message is in the last day of its life, or in its second half if it lives less than two days. Extraction
-- reads such a message now, however short its thread is. A nightly sweep comes by within that day. The function does
-- not compute with times that only plain SQL can store: one such row would stop the sweep of all users.
create or replace function memory._expires_soon(p_created_at timestamptz, p_expires_at timestamptz)
returns boolean
language sql stable parallel safe
begin atomic
  select case
    when memory._is_real_moment(p_created_at) and memory._is_real_moment(p_expires_at) then
      statement_timestamp() >= p_expires_at - least(interval '1 day', (p_expires_at - p_created_at) / 2)
    else false end;
end;
