-- What should follow a finished job: the run that was asked for meanwhile, and the part that it left over. A compression
-- goes on to its end, unless it found the thread too small.
create or replace function memory._enqueue_next(p_job memory.jobs)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  request jsonb := p_job.next_request;
begin
  if p_job.kind = 'compress_thread' then
    if p_job.status = 'completed' and (p_job.input ->> 'is_partial')::boolean and not p_job.result ? 'skipped' then
      request := '{"is_forced": true}';
    end if;
  elsif p_job.status = 'completed' and ((p_job.input ->> 'is_partial')::boolean or memory._is_due_again(p_job)) then
    request := memory._wider_request(coalesce(request, '{}'), '{}'); -- without recent_k: what is left over is read whole
  end if;
  if request is not null then
    perform memory._enqueue(p_job.user_id, p_job.kind, p_job.scope, request);
  end if;
end;
$$;

-- Whether there is enough left for another run: appends do not queue one while it is open.
create or replace function memory._is_due_again(p_job memory.jobs)
returns boolean
language plpgsql stable parallel safe
as $$
declare
  every_n int;
begin
  if p_job.kind in ('embed', 'backfill') then
    return (memory._model_to_fill(p_job)).name is not null and memory._has_unembedded(p_job.user_id, memory._embedding_scope(p_job), (memory._model_to_fill(p_job)).name);
  elsif p_job.kind = 'chunk_documents' then
    return exists (select from memory.document_chunks as c where c.user_id = p_job.user_id and c.token_count is null);
  elsif p_job.kind <> 'extract_memories' then
    return false;
  end if;
  select (memory._policy(m.user_id, m.agent_id) #>> '{cadence,fact_extraction_every_n}')::int into every_n
  from memory.messages as m where m.user_id = p_job.user_id and m.thread_id = p_job.scope order by m.seq desc limit 1;
  return coalesce(every_n > 0 and t.next_seq - 1 - (p_job.input ->> 'through_seq')::bigint >= every_n, false)
  from memory.threads as t where t.user_id = p_job.user_id and t.thread_id = p_job.scope;
end;
$$;
