-- Notes a change of one thing. The writer of messages and the triggers of whole statements note many changes at once.
create or replace function memory._note_change(
  p_user_id text, p_source text, p_id text, p_operation text, p_seq bigint default null
)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  insert into memory.new_changes (user_id, source, id, seq, operation)
  values (p_user_id, p_source, p_id, p_seq, p_operation);
end;
$$;

-- The operation under which a deletion is noted: memory.forget_memory() sets it to "forgotten" while it removes rows.
create or replace function memory._gone()
returns text
language sql stable parallel safe
begin atomic
  select case current_setting('memory.is_forgetting', true) when 'yes' then 'forgotten' else 'deleted' end;
end;
