-- memory.doctor() checks the installation. memory.status() shows its work: models, queue, workers, and problems with
-- the commands that help. Neither reads the texts of many users, so an answer takes as long for a million messages as
-- for none.
create or replace function memory.status()
returns jsonb
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  work constant jsonb := memory._work_status();
begin
  return work || jsonb_build_object(
    'version', memory.version(),
    'addons', to_jsonb(memory._addons()),
    'server_version', current_setting('server_version'),
    'pgvector', (select e.extversion from pg_extension as e where e.extname = 'vector'),
    'has_runner', memory._has_runner(),
    'expiring', (select to_jsonb(e) from memory._expiring_unread() as e),
    -- The problems, each with the command that helps: the lines of the doctor that are not ok, and the findings.
    'problems', coalesce((
      select jsonb_agg(jsonb_build_object('name', p.name, 'is_broken', p.is_broken, 'detail', p.detail,
                                          'help', p.help) order by not p.is_broken, p.name)
      from (
        select d.check_name as name, true as is_broken, d.detail, case d.check_name
            when 'privileges' then 'Run: agent-memory install'
            when 'chat model' then 'Run: select memory.activate_model(''local''), or activate another chat model'
            when 'vector indexes' then 'Run the statement of memory.vector_index()'
            when 'budgets' then
              'Raise the budget with memory.set_policy(), then call memory.retry_job(user_id, job_id)'
            when 'retries' then 'Run: select * from memory.retry_storms'
            when 'dead jobs' then
              'Run: select * from memory.dead_jobs; mend the cause, then call memory.retry_job(user_id, job_id)'
            when 'secrets' then 'See docs/secrets.md; "agent-memory doctor" says how far it is'
            else 'Run what the detail names' end as help
        from memory._checks(work) as d
        where not d.ok and d.check_name not in ('queue', 'models', 'embedding model') -- the findings of these follow
        union all
        select f.name, f.is_broken, f.detail, f.help
        from memory._findings(work) as f) as p), '[]'));
end;
$$;
comment on function memory.status() is
'How this installation goes, as an object: versions, add-ons, models with their last errors, the queue and its '
'workers, how much is embedded, how many messages expire within a day before extraction '
'has read them, and problems. Each problem has a name, is_broken (false where answers are only degraded), a detail '
'and the help.';

-- The queue with its workers, the active models, and how much is embedded. A worker is known by its claims and by the
-- newest finished jobs. The result of a model's last call is taken from the newest 10,000 calls of the ledger.
create or replace function memory._work_status()
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  moment constant timestamptz := statement_timestamp();
  queue jsonb;
  oldest_due timestamptz;
  last_error text;
begin
  select jsonb_build_object(
      'pending', count(*) filter (where j.status = 'pending'), 'running', count(*) filter (where j.status = 'running'),
      'due', count(*) filter (where j.status = 'pending' and j.run_after <= moment)),
    min(j.run_after) filter (where j.status = 'pending' and j.run_after <= moment and isfinite(j.run_after))
  into queue, oldest_due
  from memory.jobs as j where j.status in ('pending', 'running');
  select j.error into last_error
  from memory.jobs as j
  where j.status = 'pending' and not memory._waits_for_budget(j.error) and j.attempts > 0
  order by j.run_after desc limit 1;
  if last_error is null then
    select j.error into last_error
    from memory.jobs as j
    where j.status = 'running' and j.lease_expires_at is not null and not memory._waits_for_budget(j.error)
      and j.attempts > 0
    order by j.run_after desc limit 1;
  end if;
  queue := queue || jsonb_build_object(
    'oldest_due_seconds', extract(epoch from moment - oldest_due)::bigint,
    'last_error', left(last_error, 300),
    'dead', (select count(*) from memory.jobs as j where j.status = 'dead'),
    'workers', coalesce((
      select jsonb_agg(jsonb_build_object('worker', w.worker, 'last_seen_at', w.seen_at) order by w.seen_at desc)
      from (select s.worker, max(s.seen_at) as seen_at
            from (select r.worker, moment as seen_at
                  from memory.jobs as r where r.status = 'running' and r.lease_expires_at > moment
                  union all
                  (select d.worker, d.finished_at from memory.jobs as d where d.status in ('completed', 'dead')
                   order by d.finished_at desc limit 1000)) as s
            where s.worker is not null
            group by s.worker order by seen_at desc limit 10) as w), '[]'));
  return jsonb_build_object('queue', queue, 'embedded', memory._embedded_status(), 'models', coalesce((
    with calls as (
      select c.model, c.called_at, c.error from memory.model_calls as c order by c.called_at desc limit 10000
    )
    select jsonb_agg(jsonb_build_object('kind', m.kind, 'name', m.name, 'provider', m.provider, 'model', m.model,
                                        'last_called_at', l.called_at, 'last_error', l.error) order by m.kind)
    from memory.models as m
    left join lateral (
      select c.called_at, left(c.error, 300) as error from calls as c where c.model = m.name
      order by c.called_at desc limit 1) as l on true
    where m.is_active), '[]'));
end;
$$;

-- How many texts the active embedding model has embedded; null without one. The function counts up to 20,000 texts and
-- messages, and estimates larger numbers by PostgreSQL's statistics.
create or replace function memory._embedded_status()
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  active constant text := (memory._embedding_model()).name;
  texts bigint;
  messages bigint;
begin
  if active is null then
    return null;
  end if;
  texts := memory._about_how_many('memory.texts');
  messages := memory._about_how_many('memory.messages');
  if greatest(texts, messages) <= 20000 then
    return (select jsonb_build_object('model', b.model, 'done', b.done, 'total', b.total, 'is_estimate', false)
            from memory.backfill_status() as b where b.model = active);
  end if;
  return jsonb_build_object(
    'model', active, 'done', floor(texts * memory._share_of_texts('model', active)),
    'total', case when (memory._policy_section('', '', 'search') ->> 'embed_messages')::boolean
      then greatest(texts, messages) -- an unread message is no row of memory.texts
      else floor(texts * (1 - memory._share_of_texts('source', 'message'))) end,
    'is_estimate', true);
end;
$$;

-- The number of rows of a table, exact up to 20,000.
create or replace function memory._about_how_many(p_table regclass)
returns bigint
language plpgsql stable parallel safe
as $$
declare
  number bigint;
begin
  execute format('select count(*) from (select from %s limit 20001) as r', p_table) into number;
  if number > 20000 then
    select greatest(number, c.reltuples::bigint, pg_stat_get_live_tuples(c.oid)) into number
    from pg_class as c where c.oid = p_table;
  end if;
  return number;
end;
$$;

-- The share of texts with this value in a column; 0 if it is not among the most common values of the statistics.
create or replace function memory._share_of_texts(p_column text, p_value text)
returns double precision
language sql stable parallel safe
begin atomic
  select coalesce((
    select s.most_common_freqs[array_position(s.most_common_vals::text::text[], p_value)]
    from pg_stats as s where s.schemaname = 'memory' and s.tablename = 'texts' and s.attname = p_column), 0);
end;
