-- After a change of search.language (10_policy/languages.sql), jobs parse a user's texts anew. They store only words
-- that have changed.

-- Parses texts of a user after a change of search.language: at least one text, up to p_max_bytes in all. A watermark of
-- kind parsed_anew names the source and the text after which the next call continues. Its position is the position of
-- the change, so that a later change begins anew. The function does not wait for locked rows: the worker gets 55P03 and
-- tries again later; if the worker's job dies, memory.sweep() queues another job.
create or replace function memory._parse_anew(p_user_id text, p_max_bytes int)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  changed_at constant bigint := (
    select max(k.position) from memory.marks as k where k.user_id = p_user_id and k.kind = 'language');
  sources constant int := 5; -- the sources of memory._parse_some_anew()
  place jsonb; -- the number of the source, and the key of its last text: text and number
  step record;
  bytes_left int := p_max_bytes;
begin
  if changed_at is null then
    return;
  end if;
  select k.scope::jsonb into place from memory.marks as k
  where k.user_id = p_user_id and k.kind = 'parsed_anew' and k.position = changed_at;
  place := coalesce(place, '[1, "", -1]');
  while (place ->> 0)::int <= sources and bytes_left > 0 loop
    select s.* into step from memory._parse_some_anew(
      p_user_id, (place ->> 0)::int, place ->> 1, (place ->> 2)::bigint, bytes_left) as s;
    place := case
      when step.last_text is null then jsonb_build_array((place ->> 0)::int + 1, '', -1)
      else jsonb_build_array(place -> 0, step.last_text, step.last_number) end;
    bytes_left := bytes_left - coalesce(step.bytes, 0);
  end loop;
  delete from memory.marks as k
  where k.user_id = p_user_id
    and (k.kind = 'parsed_anew' or (place ->> 0)::int > sources and k.kind = 'language' and k.position <= changed_at);
  if (place ->> 0)::int <= sources then
    insert into memory.marks (user_id, scope, kind, position)
    values (p_user_id, place::text, 'parsed_anew', changed_at);
  end if;
end;
$$;

-- Parses the next texts of one source after this key, at most 1,000, and returns the last key and the bytes read; null
-- when no text is left. Each text counts 4,000 bytes more than it has, so that one call locks the threads of at most
-- 1,000 short messages. When a text counted only 100 bytes more, a call read 32,000 messages, and appends waited for 8
-- to 13 s.
create or replace function memory._parse_some_anew(
  p_user_id text, p_source int, p_text text, p_number bigint, p_max_bytes int, out last_text text,
  out last_number bigint, out bytes bigint
)
language plpgsql volatile parallel unsafe
as $$
declare
  texts text[];
  numbers bigint[];
  languages jsonb; -- the languages of the agents
  nothing constant text := '00000000-0000-0000-0000-000000000000';
begin
  p_text := case when p_source > 1 then coalesce(nullif(p_text, ''), nothing) else p_text end;
  select array_agg(d.text order by d.so_far), array_agg(d.number order by d.so_far), max(d.so_far)
  into texts, numbers, bytes
  from (
    select n.text, n.number, sum(n.bytes) over (order by n.place) as so_far, n.place
    from (
      select row_number() over () as place, o.*, 4000 + o.size as bytes
      from (
        (select m.thread_id as text, m.seq as number, octet_length(m.content)::bigint as size from memory.messages as m
         where p_source = 1 and m.user_id = p_user_id and (m.thread_id, m.seq) > (p_text, p_number)
         order by m.thread_id, m.seq limit 1000)
        union all
        (select m.memory_id::text, 0, octet_length(m.content) from memory.memories as m
         where p_source = 2 and m.user_id = p_user_id and m.memory_id > p_text::uuid
         order by m.memory_id limit 1000)
        union all
        (select c.document_id::text, c.number, octet_length(c.content) from memory.document_chunks as c
         where p_source = 3 and c.user_id = p_user_id and (c.document_id, c.number) > (p_text::uuid, p_number)
         order by c.document_id, c.number limit 1000)
        union all
        (select p.content_id::text, p.first_byte, octet_length(p.content) from memory.artifact_parts as p
         where p_source = 4 and p.user_id = p_user_id and (p.content_id, p.first_byte) > (p_text::uuid, p_number)
         order by p.content_id, p.first_byte limit 1000)
        union all
        (select s.summary_id::text, 0, octet_length(s.summary) from memory.summaries as s
         where p_source = 5 and s.user_id = p_user_id and s.summary_id > p_text::uuid and s.summary is not null
         order by s.summary_id limit 1000)) as o) as n) as d
  where d.so_far <= p_max_bytes or d.place = 1;
  last_text := texts[cardinality(texts)];
  last_number := numbers[cardinality(numbers)];
  if last_text is null then
    return;
  end if;

  case p_source
    when 1 then
      perform from memory.threads as t
      where t.user_id = p_user_id and t.thread_id = any (texts) order by t.thread_id for no key update nowait;
      -- One call for each agent, because reading the policy takes longer than parsing a short message.
      languages := (
        select jsonb_object_agg(a.agent_id, memory._language(p_user_id, a.agent_id))
        from (
          select distinct o.agent_id
          from unnest(texts, numbers) as k (text, number)
          cross join lateral (
            select v.agent_id from memory.messages as v
            where v.user_id = p_user_id and v.thread_id = k.text and v.seq = k.number offset 0) as o
          offset 0) as a);
      with w as materialized ( -- otherwise a plan made without statistics may parse a text once per message
        select o.thread_id, o.seq, memory._message_vector(
            (languages ->> o.agent_id)::regconfig, o.content, o.metadata, o.created_at) as words
        from unnest(texts, numbers) as k (text, number)
        cross join lateral (
          select v.* from memory.messages as v
          where v.user_id = p_user_id and v.thread_id = k.text and v.seq = k.number and v.search_vector is not null
            and memory._can_be_updated(v)
          offset 0) as o
      )
      update memory.messages as m
      set search_vector = w.words,
          search_keys = array(select k from memory._search_keys(m.user_id, m.agent_id, w.words, m.metadata) as k)
      from w
      where m.user_id = p_user_id and m.thread_id = w.thread_id and m.seq = w.seq
        and m.search_vector is not null and m.search_vector <> w.words;
    when 2 then
      perform from memory.memories as m
      where m.user_id = p_user_id and m.memory_id = any (texts::uuid[])
      order by m.memory_id for no key update nowait;
      update memory.memories as m
      set search_vector = case when not w.is_long then w.words end,
          long_search_vector = case when w.is_long then w.words end
      from (select o.memory_id, p.words, p.is_long
            from memory.memories as o cross join lateral memory._memory_words(o) as p
            where o.user_id = p_user_id and o.memory_id = any (texts::uuid[])
              and memory._memory_problem(o, false) is null offset 0) as w -- because a trigger would refuse the update
      where m.user_id = p_user_id and m.memory_id = w.memory_id
        and coalesce(m.search_vector, m.long_search_vector) <> w.words;
    when 3 then
      update memory.document_chunks as c
      set search_vector = w.words
      from (
        select k.text::uuid as document_id, k.number, memory._chunk_vector(
            memory._language(p_user_id, memory._document_agent(o.agent_ids)), o.title, o.content) as words
        from unnest(texts, numbers) as k (text, number)
        cross join lateral (
          select d.agent_ids, d.title, v.content
          from memory.document_chunks as v
          join memory.documents as d on d.user_id = p_user_id and d.document_id = k.text::uuid
          where v.user_id = p_user_id and v.document_id = k.text::uuid and v.number = k.number
          for no key update of v nowait) as o
        offset 0) as w
      where c.user_id = p_user_id and c.document_id = w.document_id and c.number = w.number
        and c.search_vector <> w.words;
    when 4 then
      update memory.artifact_parts as p
      set search_vector = w.words
      from (
        select k.text::uuid as content_id, k.number, memory._text_vector(memory._language(p_user_id, o.agent_id),
            memory._part_text(o.key, o.description, k.number::int, o.content)) as words
        from unnest(texts, numbers) as k (text, number)
        cross join lateral (
          select a.agent_id, a.key, a.description, v.content
          from memory.artifact_parts as v
          join memory.artifacts as a on a.user_id = p_user_id and a.content_id = k.text::uuid
          where v.user_id = p_user_id and v.content_id = k.text::uuid and v.first_byte = k.number
            and v.search_vector is not null
          for no key update of v nowait) as o
        offset 0) as w
      where p.user_id = p_user_id and p.content_id = w.content_id and p.first_byte = w.number
        and p.search_vector <> w.words;
    when 5 then
      update memory.summaries as s
      set search_vector = w.words
      from (select o.summary_id, memory._text_vector(
                memory._language(p_user_id, memory._document_agent(o.agent_ids)), o.summary) as words
            from memory.summaries as o
            where o.user_id = p_user_id and o.summary_id = any (texts::uuid[])
            for no key update nowait) as w
      where s.user_id = p_user_id and s.summary_id = w.summary_id and s.search_vector <> w.words;
  end case;
end;
$$;
