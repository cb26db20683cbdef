-- Stores the articles that rest on their memories. An article names the memories that it was made of. It hides the
-- extracted ones, which are kept and can be restored. Stated memories stay current, because the article may leave out
-- what they say.
create or replace function memory._consolidate_apply(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  item record;
  ids uuid[];
  source_ids uuid[];
  extracted_ids uuid[];
  agents text[];
  article uuid;
  articles int := 0;
  consolidated int := 0;
  reason text;
  reasons text[] := array[]::text[];
  refused int := 0;
begin
  if jsonb_typeof(p_result -> 'articles') is distinct from 'array' then
    perform memory._refuse_result('articles', 'must be an array');
  end if;
  ids := memory._lock_unchanged(p_job.user_id, p_job.input -> 'memories');

  for item in
    select i.value, i.place > cardinality(ids) as is_too_many
    from jsonb_array_elements(p_result -> 'articles') with ordinality as i (value, place)
  loop
    source_ids := null;
    reason := case when (not item.is_too_many and memory._is_result_text(item.value -> 'title', 1000)
      and memory._is_result_text(item.value -> 'content')
      and memory._are_numbers_from(item.value -> 'numbers', cardinality(ids))) is not true then 'malformed' end;
    if reason is null then
      source_ids := array(select ids[n::numeric::int] from jsonb_array_elements_text(item.value -> 'numbers') as n);
      if array_position(source_ids, null) is null then
        reason := memory._problem_of(
          memory._evidence_of(p_job, 'consolidate', (
            select string_agg(concat_ws(' ', m.subject, m.content), e'\n')
            from memory._memories_by_ids(p_job.user_id, source_ids) as m)),
          concat_ws(e'.\n', item.value ->> 'title', item.value ->> 'content'));
      end if;
    end if;
    -- Leaves out an article that was refused, or whose memories were changed or put into another article meanwhile.
    if reason is not null or array_position(source_ids, null) is not null then
      reasons := reasons || reason;
      refused := refused + 1;
      continue;
    end if;
    agents := array(
      select distinct m.agent_id from memory._memories_by_ids(p_job.user_id, source_ids) as m order by m.agent_id);
    article := memory._uuid_v7();
    insert into memory.documents (
      user_id, document_id, namespace, doc_type, title, content, source, agent_ids, metadata,
      trust)
    values (
      p_job.user_id, article, 'memories', 'article', item.value ->> 'title', item.value ->> 'content',
      'consolidation', agents, jsonb_build_object('memory_ids', to_jsonb(source_ids)),
      -- the trust of the stored rows, because a model wrote the reply
      (select min(m.trust) from memory._memories_by_ids(p_job.user_id, source_ids) as m));
    extracted_ids := array(
      select m.memory_id from memory._memories_by_ids(p_job.user_id, source_ids) as m where not memory._is_stated(m));
    perform memory._end_memories(p_job.user_id, extracted_ids, article, 'consolidated');
    ids := array(
      select case when i.id <> all (source_ids) then i.id end
      from unnest(ids) with ordinality as i (id, position) order by i.position);
    articles := articles + 1;
    consolidated := consolidated + cardinality(extracted_ids);
  end loop;
  perform memory._check_some_readable('articles', reasons, jsonb_array_length(p_result -> 'articles'));
  perform memory._set_mark(p_job.user_id, '', 'consolidate', (p_job.input ->> 'newest')::bigint);
  return jsonb_build_object('articles', articles, 'consolidated', consolidated, 'refused', refused,
                            'refusals', memory._counted_refusals(reasons));
end;
$$;
