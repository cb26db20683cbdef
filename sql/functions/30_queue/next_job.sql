-- What should follow a finished job: the run that was asked for meanwhile, and the part that it left over. A compression
-- goes on to its end, unless it found the thread too small.
create or replace function memory._enqueue_next(job memory.jobs)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  request jsonb := job.next_request;
begin
  if job.kind = 'compress_thread' then
    if job.status = 'completed' and (job.input ->> 'is_partial')::boolean and not job.result ? 'skipped' then
      request := '{"is_forced": true}';
    end if;
  elsif job.status = 'completed' and ((job.input ->> 'is_partial')::boolean or memory._is_due_again(job)) then
    request := memory._wider_request(coalesce(request, '{}'), '{}'); -- without recent_k: what is left over is read whole
  end if;
  if request is not null then
    perform memory._enqueue(job.user_id, job.kind, job.scope, request);
  end if;
end;
$$;

-- Whether there is enough left for another run: appends do not queue one while it is open.
create or replace function memory._is_due_again(job memory.jobs)
returns boolean
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  every_n int;
begin
  if job.kind in ('embed', 'backfill') then
    return (memory._model_to_fill(job)).name is not null and memory._has_unembedded(job.user_id, memory._embedding_scope(job), (memory._model_to_fill(job)).name);
  elsif job.kind = 'chunk_documents' then
    return exists (select from memory.document_chunks as c where c.user_id = job.user_id and c.token_count is null);
  elsif job.kind <> 'extract_memories' then
    return false;
  end if;
  select (memory._policy(m.user_id, m.agent_id) #>> '{cadence,fact_extraction_every_n}')::int into every_n
  from memory.messages as m where m.user_id = job.user_id and m.thread_id = job.scope order by m.seq desc limit 1;
  return coalesce(every_n > 0 and t.next_seq - 1 - (job.input ->> 'through_seq')::bigint >= every_n, false)
  from memory.threads as t where t.user_id = job.user_id and t.thread_id = job.scope;
end;
$$;
