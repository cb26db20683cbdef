-- The problems of the queue, the models and the embeddings, each with the command that helps. memory.doctor() (in the
-- line check_name) and memory.status() both show these rows, so the two never disagree. If is_broken is true, a part
-- does not work; otherwise answers are worse than they could be.
create or replace function memory._findings(p_work jsonb)
returns table (check_name text, name text, is_broken boolean, detail text, help text)
language plpgsql stable parallel unsafe
as $$
declare
  queue constant jsonb := p_work -> 'queue';
  embedded constant jsonb := nullif(p_work -> 'embedded', 'null');
  waited constant bigint := coalesce((queue ->> 'oldest_due_seconds')::bigint, 0);
  -- A worker is at work if a job is leased, or was done in the last two minutes: workers look for jobs each second.
  is_worked_on constant boolean := coalesce(
    (queue #>> '{workers,0,last_seen_at}')::timestamptz > statement_timestamp() - interval '2 minutes', false);
begin
  return query
  select 'queue', 'worker', true,
    format('%s due, the oldest for %s s, and ', queue ->> 'due', waited)
      || case when is_worked_on then 'the workers do not keep up'
           else 'no worker was seen in the last two minutes' end,
    case when is_worked_on then 'Run another worker: ' else 'Run: ' end || 'agent-memory worker'
      || case when memory._has_runner() then ', or call memory.run_jobs()' else '' end
  where waited >= case when is_worked_on then 600 else 60 end;

  return query
  select 'queue', 'failing jobs', true, queue ->> 'last_error',
    'Mend what the error names, where the worker runs; the jobs are tried again by themselves'
  where queue ->> 'last_error' is not null;

  return query
  select 'models', format('%s model', m.value ->> 'kind'), true,
    format('the last call of "%s" failed: %s', m.value ->> 'name', m.value ->> 'last_error'),
    format('%s, or run "select memory.deactivate_model(%L)"',
      case when m.value ->> 'last_error' ~ '^(the reply |the model refused|the provider''s content filter)'
        then 'It can be reached, and has not answered as it was asked: try another model, or the built-in prompt'
        else 'See that it can be reached and that its key is set where it is called' end, m.value ->> 'name')
  from jsonb_array_elements(p_work -> 'models') as m (value)
  where m.value ->> 'last_error' is not null;

  -- The stored results of jobs show which languages the built-in model could not read.
  return query
  select 'languages', 'languages', false,
    format('the built-in model could not read messages (%s), so nothing is remembered of them', l.found),
    'Register and activate a chat model, which reads every language: memory.register_model(), memory.activate_model()'
  from (
    select string_agg(format('%s in %s', u.messages, u.language), ', ' order by u.messages desc, u.language) as found
    from (
      select l.key as language, sum(l.value::numeric) as messages
      from (select j.* from memory.jobs as j
            where j.status in ('completed', 'dead') order by j.finished_at desc limit 1000) as n
      cross join jsonb_each_text(n.result -> 'unread') as l
      where n.status = 'completed' and n.kind = 'extract_memories'
      group by l.key order by sum(l.value::numeric) desc, l.key limit 10) as u) as l
  where l.found is not null
    and exists (select from memory.models as m where m.kind = 'chat' and m.is_active and m.provider = 'local');

  return query
  select 'embedding model', 'languages', false,
    format('"%s" reads %s only, and users write in other languages (%s)', m.name,
      array_to_string(array(select jsonb_array_elements_text(memory._known_model(m.model) -> 'languages')), ', '),
      (select string_agg(format('%s in %s', s.users, coalesce(nullif(s.language, 'simple'), 'others')), ', '
         order by s.users desc, s.language)
       from (select split_part(k.scope, ':', 2) as language, count(*) as users
             from memory.marks as k where k.kind = 'spoken' group by 1) as s
       where not memory._reads_language(m.name, s.language::regconfig))),
    'Run: agent-memory models local --multilingual, or register and activate another embedding model of many languages'
  from memory.models as m
  where m.kind = 'embedding' and m.is_active
    and exists (select from memory.marks as k
                where k.kind = 'spoken' and not memory._reads_language(m.name, split_part(k.scope, ':', 2)::regconfig));

  -- Counts the refusals of the last week: a model may have a bad day, and its administrators a weekend.
  return query
  select 'refused replies', 'refused replies', false,
    format('of the last week''s replies this much was not stored: %s', string_agg(r.said, '; ' order by r.said)),
    'docs/jobs.md says what each reason means. A larger model writes fewer of them'
  from (
    select format('%s: %s', s.model, string_agg(format('%s %s', s.reason, s.number), ', '
                                                order by s.number desc, s.reason)) as said
    from (
      select c.model, r.key as reason, sum(r.value::bigint) as number
      from memory.model_calls as c
      cross join jsonb_each_text(case when jsonb_typeof(c.refusals) = 'object' then c.refusals end) as r
      where c.called_at > statement_timestamp() - interval '7 days'
      group by c.model, r.key) as s
    group by s.model) as r
  having count(*) > 0;

  return query
  select 'embedding model', 'embedding model', false, 'none is active: searches compare words, not meaning',
    memory._help_without_model()
  where embedded is null;

  return query
  select 'embedding model', 'embeddings', false,
    format('%s%s of %s texts are embedded: searches by meaning miss the others',
           case when (embedded ->> 'is_estimate')::boolean then 'about ' else '' end, embedded ->> 'done',
           embedded ->> 'total'),
    'Keep a worker running: agent-memory worker'
  where (embedded ->> 'done')::bigint
    < (embedded ->> 'total')::bigint * case when (embedded ->> 'is_estimate')::boolean then 0.95 else 1 end;
end;
$$;
