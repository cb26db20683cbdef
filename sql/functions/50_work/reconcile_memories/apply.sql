-- The model says which facts belong together. What may be done about it is decided here. Both sides are of one agent
-- and about one subject, unchanged since they were handed out, and _may_hide() agrees. The text of duplicates is that
-- of one of them; of two that contradict each other the newer stays, then the more confident. Whatever breaks these
-- rules is left alone, and what the model said of it is counted.
create or replace function memory._apply_reconciliation(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  given int := jsonb_array_length(p_job.input -> 'facts');
  section text;
  item record;
  handed_out uuid[];
  ids uuid[];
  entry_ids uuid[];
  entries jsonb;
  claims jsonb;
  winner uuid;
  losers uuid[];
  kept int;
  merged int;
  contradicted int := 0;
  refused int;
begin
  foreach section in array array['duplicates', 'contradictions'] loop
    if jsonb_typeof(p_result -> section) is distinct from 'array' then
      perform memory._refuse_result(section, 'must be an array');
    elsif jsonb_array_length(p_result -> section) > given then
      perform memory._refuse_result(section, format('has %s entries for %s facts', jsonb_array_length(p_result -> section), given));
    end if;
    for item in select i.position - 1 as position, i.value from jsonb_array_elements(p_result -> section) with ordinality as i (value, position) loop
      perform memory._check_result_numbers(format('%s[%s].numbers', section, item.position), item.value -> 'numbers', given);
      if section = 'duplicates' then
        perform memory._check_result_text(format('duplicates[%s].content', item.position), item.value -> 'content');
      end if;
    end loop;
  end loop;

  ids := memory._lock_unchanged(p_job.user_id, p_job.input -> 'facts');
  handed_out := ids;
  -- A reply that names each fact time and again would be compared for minutes; an honest one needs two mentions.
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
  claims := memory._claims_of(p_job.user_id, ids, array(
    select distinct ids[n::numeric::int] from jsonb_path_query(entries, '$[*].numbers[*]') as n));

  for item in
    select e.is_duplicate, e.content, e.numbers
    from jsonb_array_elements(entries) with ordinality as i (value, position)
    cross join lateral jsonb_to_record(i.value) as e (is_duplicate boolean, content text, numbers jsonb)
    order by i.position
  loop
    losers := null;
    entry_ids := array(select distinct ids[n::numeric::int] from jsonb_array_elements(item.numbers) as n);
    if memory._may_supersede(p_job.user_id, entry_ids) then
      winner := case when item.is_duplicate
                     then memory._named_by_content(p_job.user_id, entry_ids, claims, item.content)
                     else memory._newest_said(p_job.user_id, entry_ids) end;
      losers := array(select e from unnest(entry_ids) as e
                      where e <> winner and memory._may_hide(p_job.user_id, winner, e, claims, item.is_duplicate));
    end if;
    if cardinality(losers) > 0 then
      perform memory._supersede_all(p_job.user_id, losers, winner,
                                    case when item.is_duplicate then 'duplicate' else 'contradict' end);
      -- What contradicts a duplicate contradicts the one that stays; who lost a contradiction is out.
      ids := array(select case when i.id <> all (losers) then i.id when item.is_duplicate then winner end
                   from unnest(ids) with ordinality as i (id, position) order by i.position);
      if item.is_duplicate then
        perform memory._keep_the_best(p_job.user_id, winner, losers);
      else
        contradicted := contradicted + cardinality(losers);
      end if;
    end if;
    refused := refused + (coalesce(cardinality(losers), 0) < greatest(cardinality(entry_ids) - 1, 1))::int;
  end loop;
  if coalesce((p_job.request ->> 'n')::int, 50) >= 50 then -- else some may not have been looked at
    perform memory._set_mark(p_job.user_id, '', 'reconcile_memories', (p_job.input ->> 'newest')::bigint);
  end if;
  -- Of the facts that were handed out: what stayed of duplicates may have been merged again, or contradicted.
  select given - count(*), count(*) filter (where m.supersede_reason = 'duplicate') into kept, merged
  from memory.memories as m where m.user_id = p_job.user_id and m.memory_id = any (handed_out) and m.superseded_at is not null;
  return jsonb_build_object('kept', kept, 'merged', merged, 'contradicted', contradicted, 'refused', refused);
end;
$$;
