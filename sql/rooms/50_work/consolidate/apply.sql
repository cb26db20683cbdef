-- Stores the articles. An article names the memories it was made of, and hides those that were extracted; they are kept
-- and can be restored. Stated memories stay current, because the article may not say what they say.
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
  refused int := 0;
begin
  perform memory._check_articles(p_result, jsonb_array_length(p_job.input -> 'memories'));

  ids := memory._lock_unchanged(p_job.user_id, p_job.input -> 'memories');

  for item in select i.value from jsonb_array_elements(p_result -> 'articles') as i loop
    source_ids := array(select ids[n::numeric::int] from jsonb_array_elements_text(item.value -> 'numbers') as n);
    if array_position(source_ids, null) is not null then -- changed meanwhile, or in an article already
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
      -- of the rows, not of the reply
      (select min(m.trust) from memory._memories_by_ids(p_job.user_id, source_ids) as m));
    extracted_ids := array(
      select m.memory_id from memory._memories_by_ids(p_job.user_id, source_ids) as m where not memory._is_stated(m));
    perform memory._supersede_all(p_job.user_id, extracted_ids, article, 'consolidated');
    ids := array(
      select case when i.id <> all (source_ids) then i.id end
      from unnest(ids) with ordinality as i (id, position) order by i.position);
    articles := articles + 1;
    consolidated := consolidated + cardinality(extracted_ids);
  end loop;
  perform memory._set_mark(p_job.user_id, '', 'consolidate', (p_job.input ->> 'newest')::bigint);
  return jsonb_build_object('articles', articles, 'consolidated', consolidated, 'refused', refused);
end;
$$;

-- Refuses a reply that is not a list of articles about the memories that were given.
create or replace function memory._check_articles(p_result jsonb, p_given int)
returns void
language plpgsql stable parallel safe
as $$
declare
  item record;
begin
  if jsonb_typeof(p_result -> 'articles') is distinct from 'array' then
    perform memory._refuse_result('articles', 'must be an array');
  elsif jsonb_array_length(p_result -> 'articles') > p_given then
    perform memory._refuse_result('articles',
      format('has %s entries for %s memories', jsonb_array_length(p_result -> 'articles'), p_given));
  end if;
  for item in
    select i.position - 1 as position, i.value
    from jsonb_array_elements(p_result -> 'articles') with ordinality as i (value, position)
  loop
    perform memory._check_result_text(format('articles[%s].title', item.position), item.value -> 'title', 1000);
    perform memory._check_result_text(format('articles[%s].content', item.position), item.value -> 'content');
    perform memory._check_result_numbers(
      format('articles[%s].numbers', item.position), item.value -> 'numbers', p_given);
  end loop;
end;
$$;
