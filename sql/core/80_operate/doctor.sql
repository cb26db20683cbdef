create or replace function memory.doctor()
returns table (check_name text, ok boolean, detail text)
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select c.check_name, c.ok, c.detail from memory._checks(memory._work_status()) as c;
end;
$$;
comment on function memory.doctor() is
'Checks this installation: one row per check, ok = false where something is broken. Where answers are '
'worse than they could be, such as without an embedding model, detail begins with "degraded:".';

-- The lines of memory.doctor(); p_work is the result of memory._work_status().
create or replace function memory._checks(p_work jsonb)
returns table (check_name text, ok boolean, detail text)
language plpgsql volatile parallel unsafe
as $$
begin
  return query
  select 'version', true,
    format('agent_memory %s on PostgreSQL %s, %s', memory.version(), current_setting('server_version'),
      coalesce('with the add-ons ' || nullif(array_to_string(memory._addons(), ', '), ''),
               'the core alone: "agent-memory install" adds the add-ons'));

  return query
  select 'pgvector', e.version is not null,
    coalesce('vector ' || e.version, 'the extension "vector" is missing: '
      || case when exists (select from pg_available_extensions as a where a.name = 'vector') then 'as a superuser'
           else 'install pgvector on the server, then as a superuser' end || ' run "create extension vector"')
  from (select max(x.extversion) as version from pg_extension as x where x.extname = 'vector') as e;

  return query
  select 'in-database runner', true,
    case
      when memory._has_runner() then 'call memory.run_jobs() works in this database'
      else 'absent (needs plpython3u): run "agent-memory worker" beside the server'
    end;

  return query select 'upgrade', c.ok, c.detail from memory._check_upgrade() as c;
  return query select 'roles', c.ok, c.detail from memory._check_roles() as c;
  return query select 'privileges', c.ok, c.detail from memory._check_privileges() as c;
  return query select 'triggers', c.ok, c.detail from memory._check_triggers() as c;
  return query select 'indexes', c.ok, c.detail from memory._check_indexes() as c;
  return query select 'bloat', c.ok, c.detail from memory._check_bloat() as c;
  return query select 'clock', c.ok, c.detail from memory._check_clock() as c;

  return query
  select 'chat model', max(m.name) is not null,
    coalesce(max(format('%s (provider %s, model %s)', m.name, m.provider, m.model)),
             'none is active: run "select memory.activate_model(''local'')", or activate another one')
  from memory.models as m
  where m.kind = 'chat' and m.is_active;

  -- An index that is being built is not valid yet, but has no fault.
  return query
  select 'vector indexes', coalesce(bool_and(i.indisvalid), true),
    coalesce(string_agg(format('%s of model %s%s', i.indexrelid::regclass, m.name,
               case when not i.indisvalid
                 then format(' is not valid: run what "select memory.vector_index(%L)" gives', m.name) end), ', '),
             'none, which is right unless users have tens of thousands of memories')
  from memory.models as m
  join pg_index as i on i.indexrelid = memory._vector_index(m.name)
  where not exists (select from pg_stat_progress_create_index as p where p.index_relid = i.indexrelid);

  {{each addon with doctor: return query select c.check_name, c.ok, c.detail from memory._<addon>_doctor() as c;}}

  -- Takes the newest of 1,000 jobs whose result says how the worker counted tokens.
  return query
  select 'token counts', true,
    case
      when c.counter is not null then format('exact (%s), by the last worker that read messages', c.counter)
      when c.finished_at is not null
      then 'estimated as bytes / 4: the last worker found no tiktoken encoding (see docs/models.md)'
      else 'estimated as bytes / 4 until a worker has counted'
    end
  from (values (1)) as always (row)
  left join (
    select n.finished_at, n.result ->> 'token_counter' as counter
    from (select j.* from memory.jobs as j
          where j.status in ('completed', 'dead') order by j.finished_at desc limit 1000) as n
    where n.status = 'completed' and n.input ? 'read_through' and not n.result ? 'skipped'
    order by n.finished_at desc
    limit 1) as c on true;

  return query
  select l.check_name, coalesce(bool_and(not f.is_broken), true),
    concat_ws('; ', string_agg(case when f.is_broken then '' else 'degraded: ' end || f.detail || '. ' || f.help, '; '),
              case when f.check_name is null or l.check_name not in ('models', 'languages', 'refused replies')
                then l.detail end)
  from (values
    ('embedding model', (select format('%s (model %s)', m.name, m.model) from memory.models as m
                         where m.kind = 'embedding' and m.is_active)),
    ('languages', 'no message was in a language that the chat model cannot read'),
    ('models', 'no last call failed'),
    ('queue', format('%s pending, %s running', p_work #>> '{queue,pending}', p_work #>> '{queue,running}')),
    ('refused replies', 'nothing of the last week''s replies was refused')
  ) as l (check_name, detail)
  left join memory._findings(p_work) as f on f.check_name = l.check_name
  group by l.check_name, l.detail, f.check_name
  order by l.check_name;

  return query select 'stuck jobs', c.ok, c.detail from memory._check_stuck_jobs() as c;
  return query select 'unread messages', c.ok, c.detail from memory._check_unread() as c;

  return query
  select 'budgets', count(*) = 0,
    case count(*)
      when 0 then 'no job waits for one'
      else format('%s waiting for the next day: raise a budget with memory.set_policy(), then run "select '
                  'memory.retry_job(user_id, job_id) from memory.jobs where status = ''pending'' and error like '
                  '''AM002%%''"; memory.model_usage shows the calls of the day', count(*))
    end
  from memory.jobs as j
  where j.status = 'pending' and memory._waits_for_budget(j.error) and j.run_after > statement_timestamp();

  return query
  select 'retries', count(*) = 0,
    case count(*)
      when 0 then 'no job failed three times within a day'
      else format('%s jobs failed three times or more within a day: run "select * from memory.retry_storms", '
                  'and mend the cause in last_error', count(*))
    end
  from memory.retry_storms;

  return query
  select 'dead jobs', count(*) = 0,
    case count(*)
      when 0 then 'none'
      else format('%s: run "select * from memory.dead_jobs", mend what error says, then run "select '
                  'memory.retry_job(user_id, job_id) from memory.dead_jobs"', count(*)) end
  from memory.jobs as j
  where j.status = 'dead';
end;
$$;
