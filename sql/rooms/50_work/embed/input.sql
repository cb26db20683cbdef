-- Texts of the job's scope that have no embedding of the active model. Entries name the texts of the user, so that the
-- cost follows the texts to embed and not those that the user has. Messages of a thread are compared with their
-- embeddings.
create or replace function memory._embed_input(
  p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql volatile parallel unsafe
set enable_seqscan = off -- as in memory._embedding_input()
set jit = off
set plan_cache_mode = force_generic_plan -- planning took as long as finding and reading the text of a job
as $$
declare
  model memory.models := memory._embedding_model();
  sources text[];
  ids text[];
begin
  if model.name is null then
    return;
  elsif p_job.scope <> '' then
    select array_agg(u.source), array_agg(u.id) into sources, ids
    from memory._unembedded(p_job.user_id, p_job.scope, model.name, 256) as u;
  else
    perform memory._list_texts_to_embed(p_job.user_id, model.name);
  end if;
  loop
    if p_job.scope = '' then
      select array_agg(l.source), array_agg(l.id) into sources, ids
      from (select distinct t.source, t.id from memory.texts_to_embed as t
            where t.user_id = p_job.user_id and t.source > '' and not exists ( -- as memory._is_embedded(), in a sixth
              select from memory.embeddings as e -- of its time; "offset 0" keeps the look-up by the whole key
              where e.user_id = p_job.user_id and e.model = model.name and e.source = t.source and e.id = t.id
              offset 0)
            order by 1, 2 limit 256) as l;
    end if;
    if ids is not null then
      select * into payload, input, agent_id, tokens
      from memory._embedding_input(p_job.user_id, sources, ids, model);
    end if;
    exit when p_job.scope <> '' or jsonb_array_length(payload -> 'texts') = cardinality(ids);
    -- Entries of texts that are hidden or have an embedding. Whoever shows or changes a text adds another entry.
    delete from memory.texts_to_embed as l
    where l.user_id = p_job.user_id and l.source > '' and (ids is null or l.id = any (ids)) and not exists (
      select from memory._embeddable_texts(p_job.user_id, array[l.source], array[l.id]) as t
      where not memory._is_embedded(p_job.user_id, model.name, t.source, t.id));
    exit when payload is not null or ids is null;
  end loop;
end;
$$;

-- Turns an entry for all texts of a user into entries of the texts that have no embedding, 10,000 at a time, the next
-- ones when the entries of texts no longer fill a job. A user without any entry is treated alike: the job was queued by
-- an earlier version, or by memory.sweep().
create or replace function memory._list_texts_to_embed(p_user_id text, p_model text)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  entries constant uuid[] := array(
    select l.entry from memory.texts_to_embed as l where l.user_id = p_user_id and l.source = '');
  enough constant int := case entries when '{}' then 1 else 256 end;
  found_now bigint;
begin
  if enough > (
    select count(*)
    from (select from memory.texts_to_embed as l
          where l.user_id = p_user_id and l.source > ''
            and not memory._is_embedded(p_user_id, p_model, l.source, l.id)
          limit enough) as l) then
    with unembedded as materialized (
      select u.source, u.id from memory._unembedded(p_user_id, '', p_model, 10000) as u
    ), listed as (
      insert into memory.texts_to_embed (user_id, source, id)
      select p_user_id, u.source, u.id from unembedded as u
      except
      select l.user_id, l.source, l.id from memory.texts_to_embed as l where l.user_id = p_user_id and l.source > ''
    )
    select count(*) into found_now from unembedded;
    if found_now < 10000 then
      delete from memory.texts_to_embed as l
      where l.user_id = p_user_id and l.source = '' and l.id = '' and l.entry = any (entries);
    end if;
  end if;
end;
$$;
