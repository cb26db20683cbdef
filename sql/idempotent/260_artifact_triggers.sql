-- The artifacts that there are: one that has expired is gone for everyone but memory.sweep(). Inlined by the planner, hence
-- no SET clause.
create or replace function memory._current_artifacts(user_id text)
returns setof memory.artifacts
language sql stable parallel safe
begin atomic
  select a.* from memory.artifacts as a
  where a.user_id = _current_artifacts.user_id and (a.expires_at is null or a.expires_at > statement_timestamp());
end;

-- The rules of artifacts. They live in triggers, so that a direct insert obeys them too.
create or replace function memory._artifact_before_write()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may write need not have rights on policies
set search_path = pg_catalog, pg_temp
as $$
begin
  new.metadata := coalesce(new.metadata, '{}');
  new.created_at := coalesce(new.created_at, statement_timestamp());
  new.expires_at := nullif(new.expires_at, 'infinity');
  new.description := memory._placeholder_text(left(new.description, 10000));
  perform memory._check_artifact(new);
  new.description := coalesce(new.description, memory._describe(new.artifact_type, new.content, new.metadata));
  new.token_count := memory._estimate_tokens(new.content);

  if tg_op = 'INSERT' then
    new.key := coalesce(new.key, memory._artifact_key(new.description, new.artifact_type));
    -- One that is over and not swept yet must not stand in the way.
    delete from memory.artifacts as a where a.user_id = new.user_id and a.key = new.key and a.expires_at <= statement_timestamp();
  elsif (new.user_id, new.key) is distinct from (old.user_id, old.key) then
    perform memory._refuse('key', 'user_id and key of an artifact cannot change', 'Placeholders name it by them; store it again under another key.');
  elsif (new.description, new.content) is not distinct from (old.description, old.content) then
    new.search_vector := old.search_vector;
    return new;
  end if;
  new.search_vector := memory._text_vector((memory._policy(new.user_id, new.agent_id) #>> '{search,language}')::regconfig,
                                           concat_ws(e'\n', new.key, new.description, new.content));
  return new;
end;
$$;

create or replace function memory._check_artifact(candidate memory.artifacts)
returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', candidate.user_id);
  perform memory._check_id('key', coalesce(candidate.key, 'made of the description'));
  perform memory._check_id('artifact_type', candidate.artifact_type);
  perform memory._check_id('agent_id', candidate.agent_id);
  perform memory._check_id('thread_id', coalesce(candidate.thread_id, 'none'));
  -- A model has to copy a key out of a placeholder, so it has no blanks and no letters that look alike.
  if candidate.key !~ '^[A-Za-z0-9._:/@#=+-]+$' then
    perform memory._refuse('key', 'has characters that a placeholder cannot hold',
      'Use letters and digits of ASCII and . _ : / @ # = + -, or leave it out and one is made of the description.');
  end if;
  perform memory._check_text(candidate.content, 10485760, 'Pass what is to be kept; what is empty needs no placeholder.');
  if length(candidate.description) > 500 then
    perform memory._refuse('description', format('has %s characters, at most 500 are allowed', length(candidate.description)),
      'It is the one line that a context shows; put more into the content or the metadata.', '54000');
  end if;
  perform memory._check_metadata(candidate.metadata);
  perform memory._check_moment('created_at', candidate.created_at);
  perform memory._check_bound('expires_at', candidate.expires_at);
end;
$$;

create or replace function memory._memory_ref(key text, description text, token_count int)
returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return format('[MemoryRef: %s - %s - %s tokens]', key, description, token_count);
end;
$$;

-- One line that can stand in a placeholder: without the colours and titles of a terminal, line breaks, other control
-- characters, what is invisible or turns the direction of writing, and brackets, of which one would end it. Null when nothing is left.
create or replace function memory._placeholder_text(said text)
returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  said := regexp_replace(said, e'\\u001b(?:\\[[0-9;?]*[A-Za-z]|\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\))', '', 'g');
  said := regexp_replace(said, e'[\\u00ad\\u061c\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff\\U000e0000-\\U000e007f]', '', 'g');
  said := regexp_replace(translate(said, '[]', '()'), e'[\\s\\u0001-\\u001f\\u007f-\\u00a0\\u2028\\u2029]+', ' ', 'g');
  return nullif(memory._harmless(btrim(said)), '');
end;
$$;

-- What an artifact is, in a line: the command that it is the output of, the keys of a JSON text, or the first line that
-- says something.
create or replace function memory._describe(artifact_type text, content text, metadata jsonb)
returns text
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  command constant text := memory._placeholder_text(case jsonb_typeof(metadata -> 'command') when 'string' then left(metadata ->> 'command', 1000) end);
  described text := command;
  line_count int;
begin
  if command is null and left(content, 1000) ~ e'^\\s*[[{]' then
    described := memory._placeholder_text(left(memory._describe_json(content), 1000));
  end if;
  if described is null then
    select l.said into described
    from regexp_split_to_table(left(content, 10000), e'[\\n\\r]') with ordinality as r (line, place)
    cross join lateral memory._placeholder_text(left(r.line, 1000)) as l (said)
    where l.said ~ e'[^ !-/:-@\\[-`{-~\\u2500-\\u259f]' -- more than punctuation and the lines of a table
    order by r.place limit 1;
  end if;
  if length(described) > 100 then
    described := rtrim(left(described, 97)) || '...';
  end if;
  if command is not null or described is null then
    content := rtrim(content, e'\n');
    line_count := 1 + octet_length(content) - octet_length(replace(content, e'\n', ''));
    described := format('%s, %s %s', coalesce(described, memory._placeholder_text(artifact_type), 'text'), line_count,
                        case line_count when 1 then 'line' else 'lines' end);
  end if;
  return described;
end;
$$;

-- Null for what only looks like JSON.
create or replace function memory._describe_json(content text)
returns text
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  value json;
  described text := 'JSON object';
  keys text;
begin
  value := content::json;
  if json_typeof(value) = 'array' then
    described := format('JSON array of %s', json_array_length(value));
    value := value -> 0;
  end if;
  if json_typeof(value) = 'object' then
    select string_agg(k.key, ', ') into keys from (select o.key from json_object_keys(value) as o (key) limit 10) as k;
  end if;
  return concat_ws(': ', described, keys);
exception when data_exception or program_limit_exceeded then
  return null;
end;
$$;

-- Readable, with one of sixteen million endings; memory.store_artifact() draws again when the key is taken.
create or replace function memory._artifact_key(description text, artifact_type text)
returns text
language plpgsql volatile parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return s.slug || '-' || left(gen_random_uuid()::text, 6)
  from unnest(array[description, artifact_type, 'artifact']) with ordinality as t (said, place)
  cross join lateral btrim(left(regexp_replace(lower(t.said), '[^a-z0-9]+', '-', 'g'), 40), '-') as s (slug)
  where s.slug <> '' order by t.place limit 1;
end;
$$;

create or replace function memory._artifact_after_write()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may write need not have rights on embeddings and jobs
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'UPDATE' then
    perform memory._drop_embedding(new.user_id, 'artifact', new.key);
  end if;
  perform memory._enqueue_embedding(new.user_id);
  return null;
end;
$$;

create or replace function memory._artifacts_after_delete()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may write need not have rights on embeddings
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Row by row: a join is planned badly while the table has no statistics, and a session keeps its first plan.
  perform memory._drop_embedding(o.user_id, 'artifact', o.key) from old_rows as o;
  return null;
end;
$$;
