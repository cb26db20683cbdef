-- Refuses the text for which a job has died: in its last attempt the model was given only this text, and gave no
-- verdict. So no text keeps others from their verdicts. The function waits for nobody: if another session holds the
-- text, the text is refused when a later job dies.
create or replace function memory._screen_texts_unfinished(p_job memory.jobs, p_goes_on boolean)
returns void
language plpgsql volatile parallel unsafe
set lock_timeout = '10ms'
as $$
begin
  if p_job.status = 'dead' and not p_goes_on and (
    select count(distinct h -> 'id') = 1 from jsonb_array_elements(p_job.input -> 'texts') as h) then
    perform memory._take_verdict(p_job, p_job.input #> '{texts,0}', 'screen: the model gives no verdict');
  end if;
exception
  when lock_not_available then
    null;
end;
$$;
