-- Applies a model's decisions about facts: which are duplicates, and which contradict each other. The function acts on
-- a set of facts only if all belong to one agent and one subject, none has changed since the job handed them out, and
-- memory._may_hide() agrees. Of duplicates the newest stays, or a fact that says all that the newest says. Of
-- contradicting facts the one that was said later stays, and of facts said at the same time the more confident one; but
-- a fact that the user stated wins over an extracted fact. Sets that break these rules change nothing and count as
-- refused. The built-in model also decides anew about hidden facts: those that it names as open become current unless a
-- set hides them again.
create or replace function memory._reconcile_memories_apply(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  given int := jsonb_array_length(p_job.input -> 'facts');
  item record;
  handed_out uuid[];
  ids uuid[];
  entry_ids uuid[];
  entries jsonb;
  claims jsonb;
  winner uuid;
  losers uuid[];
  hidden uuid[] := array[]::uuid[]; -- the facts that the sets of this reply hide
  reason text;
  kept int;
  merged int;
  contradicted int;
  refused int;
begin
  perform memory._check_reconciliation(p_result, given);

  ids := memory._lock_unchanged(p_job.user_id, p_job.input -> 'facts');
  handed_out := ids;
  -- The function reads at most four mentions per fact: comparing a reply that names each fact again and again would
  -- take minutes, and an honest reply needs two mentions.
  select coalesce(jsonb_agg(to_jsonb(e) order by e.is_duplicate desc, e.position) filter (where e.is_looked_at), '[]'),
    count(*) filter (where not e.is_looked_at)
  into entries, refused
  from (
    select s.section = 'duplicates' as is_duplicate, i.position,
      i.value -> 'numbers' as numbers, i.value ->> 'content' as content,
      sum(jsonb_array_length(i.value -> 'numbers')) over (partition by s.section order by i.position) <= 4 * given
        as is_looked_at
    from unnest(array['duplicates', 'contradictions']) as s (section)
    cross join lateral jsonb_array_elements(p_result -> s.section) with ordinality as i (value, position)
  ) as e;
  if entries <> '[]' then
    claims := memory._claims_of(p_job.user_id, ids, array(
      select distinct ids[n::numeric::int] from jsonb_path_query(entries, '$[*].numbers[*]') as n));
  end if;

  for item in
    select e.is_duplicate, e.content, e.numbers
    from jsonb_array_elements(entries) with ordinality as i (value, position)
    cross join lateral jsonb_to_record(i.value) as e (is_duplicate boolean, content text, numbers jsonb)
    order by i.position
  loop
    losers := null;
    entry_ids := array(select distinct ids[n::numeric::int] from jsonb_array_elements(item.numbers) as n);
    -- One of these memories may hide the others if at least two are left, none of them is missing, and all belong to
    -- one agent and one subject.
    if (select array_position(entry_ids, null) is null and count(*) >= 2 and count(*) = cardinality(entry_ids)
          and count(distinct m.agent_id) = 1 and count(distinct memory._subject(m.metadata)) = 1
        from memory._memories_by_ids(p_job.user_id, entry_ids) as m) then
      winner := case when item.is_duplicate
                     then memory._wording_that_stays(p_job.user_id, entry_ids, claims, item.content)
                     else memory._side_that_stays(p_job.user_id, entry_ids, claims) end;
      losers := array(
        select e from unnest(entry_ids) as e
        where e <> winner and memory._may_hide(p_job.user_id, winner, e, claims, item.is_duplicate));
    end if;
    if cardinality(losers) > 0 then
      reason := case when item.is_duplicate then 'duplicate'
                     when winner = memory._newest_said(p_job.user_id, entry_ids) then 'contradict'
                     else 'stated' end;
      hidden := hidden || losers;
      -- A fact that is already hidden in the same way keeps its version.
      perform memory._supersede_all(p_job.user_id, array(
        select m.memory_id from memory._memories_by_ids(p_job.user_id, losers) as m
        where (m.superseded_by, m.supersede_reason) is distinct from (winner, reason)), winner, reason);
      -- The numbers of hidden duplicates now point to the fact that stays; the numbers of contradicted facts point to
      -- no fact.
      ids := array(
        select case when i.id <> all (losers) then i.id when item.is_duplicate then winner end
        from unnest(ids) with ordinality as i (id, position) order by i.position);
      if item.is_duplicate then
        perform memory._keep_the_best(p_job.user_id, winner, losers);
      end if;
    end if;
    refused := refused + (coalesce(cardinality(losers), 0) < greatest(cardinality(entry_ids) - 1, 1))::int;
  end loop;
  perform memory._release(p_job.user_id, o.memory_id)
  from jsonb_array_elements_text(p_result -> 'open') as n
  cross join lateral (select handed_out[n::numeric::int] as memory_id) as o
  where o.memory_id <> all (hidden);
  if coalesce((p_job.request ->> 'n')::int, 50) >= 50 then -- a smaller n leaves out older new facts
    perform memory._set_mark(p_job.user_id, '', 'reconcile_memories', (p_job.input ->> 'newest')::bigint);
  end if;
  -- The counts come last, because a later set may have hidden a fact that stayed in an earlier set.
  select count(*) filter (where h.is_kept), count(*) filter (where h.is_new and h.supersede_reason = 'duplicate'),
    count(*) filter (where h.is_new and h.supersede_reason in ('contradict', 'stated'))
  into kept, merged, contradicted
  from (
    select m.supersede_reason, m.superseded_at is null as is_kept,
      (g.value ->> 'version')::int <> m.version and m.superseded_at is not null as is_new
    from jsonb_array_elements(p_job.input -> 'facts') as g
    left join memory._memories_by_ids(p_job.user_id, handed_out) as m
      on m.memory_id = (g.value ->> 'memory_id')::uuid) as h;
  return jsonb_build_object('kept', kept, 'merged', merged, 'contradicted', contradicted, 'refused', refused);
end;
$$;

-- Refuses a reply that is not lists of duplicates and contradictions among the given facts.
create or replace function memory._check_reconciliation(p_result jsonb, p_given int)
returns void
language plpgsql stable parallel safe
as $$
declare
  section text;
  item record;
begin
  foreach section in array array['duplicates', 'contradictions'] loop
    if jsonb_typeof(p_result -> section) is distinct from 'array' then
      perform memory._refuse_result(section, 'must be an array');
    elsif jsonb_array_length(p_result -> section) > p_given then
      perform memory._refuse_result(section,
        format('has %s entries for %s facts', jsonb_array_length(p_result -> section), p_given));
    end if;
    for item in
      select i.position - 1 as position, i.value
      from jsonb_array_elements(p_result -> section) with ordinality as i (value, position)
    loop
      perform memory._check_result_numbers(
        format('%s[%s].numbers', section, item.position), item.value -> 'numbers', p_given);
      if section = 'duplicates' then
        perform memory._check_result_text(format('duplicates[%s].content', item.position), item.value -> 'content');
      end if;
    end loop;
  end loop;
  if p_result ? 'open' then
    perform memory._check_result_numbers('open', p_result -> 'open', p_given, 0);
  end if;
end;
$$;
