-- Queues a job in which the screen model judges texts of low trust, and returns the reason for which they are in
-- quarantine until then.
create or replace function memory._judge_later(p_user_id text)
returns text
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._enqueue_due(p_user_id, 'screen_texts', '');
  return memory._waiting_reason();
end;
$$;
