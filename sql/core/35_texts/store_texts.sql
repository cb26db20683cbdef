-- needs pgvector on the search_path

-- Makes the rows of memory.texts with these ids what their source says, and deletes those of texts that are gone. A
-- text that has changed loses its embeddings. Whoever writes a source calls this function, so nothing else decides what
-- a row of memory.texts says.
create or replace function memory._store_texts(p_user_id text, p_source text, p_ids text[])
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  texts constant memory._source_text[] := array(select t from memory._source_texts(p_user_id, p_source, p_ids) as t);
  active constant text := (memory._embedding_model()).name;
  languages jsonb;
  are_due boolean;
begin
  if texts <> '{}' then
    -- The policy is read once per agent: reading it for each short message took as long as parsing the message.
    languages := (
      select jsonb_object_agg(a.id, memory._language(p_user_id, nullif(a.id, '')))
      from (select distinct coalesce(t.agent_id, '') as id from unnest(texts) as t) as a);
    with stored as (insert into memory.texts as t (
      user_id, source, id, thread_id, number, agent_id, created_at, valid_until, words, keys, hash)
    select p_user_id, p_source, n.id, n.thread_id, n.number, n.agent_id, n.created_at, n.valid_until, w.words,
      case p_source when 'message' then array(
        select memory._word_key(p_user_id, k) from unnest(tsvector_to_array(w.words)) as k) end,
      md5(n.embedded)::uuid
    from unnest(texts) as n
    cross join lateral (
      select coalesce( -- null under a policy that breaks the rules, as plain SQL may store it
        memory._text_vector((languages ->> coalesce(n.agent_id, ''))::regconfig, n.said), '') as words offset 0) as w
    order by n.id
    on conflict on constraint texts_pkey do update
    set thread_id = excluded.thread_id, number = excluded.number, agent_id = excluded.agent_id,
        created_at = excluded.created_at, valid_until = excluded.valid_until, words = excluded.words,
        keys = excluded.keys, hash = excluded.hash,
        model = case when t.hash = excluded.hash then t.model end,
        embedding = case when t.hash = excluded.hash then t.embedding end,
        code = case when t.hash = excluded.hash then t.code end,
        tokens = case when t.hash = excluded.hash then t.tokens end
    where (t.thread_id, t.number, t.agent_id, t.created_at, t.valid_until, t.words, t.hash) is distinct from (
      excluded.thread_id, excluded.number, excluded.agent_id, excluded.created_at, excluded.valid_until,
      excluded.words, excluded.hash)
    returning t.model is distinct from active and t.hash is not null and t.valid_until > statement_timestamp()
      as is_due)
    select bool_or(s.is_due) into are_due from stored as s;
    perform memory._note_language(p_user_id, (languages ->> s.agent_id)::regconfig, s.said)
    from (select coalesce(t.agent_id, '') as agent_id, string_agg(left(t.said, 200), e'\n') as said
          from unnest(texts[:20]) as t group by 1) as s;
    if active is not null and are_due and p_source <> 'message' then -- whether messages are embedded is a policy
      perform memory._enqueue_embedding(p_user_id);
    end if;
  end if;
  perform memory._drop_texts(p_user_id, p_source, p_ids, array(select t.id from unnest(texts) as t));
end;
$$;

-- Deletes the rows of memory.texts with these ids but p_kept, and all embeddings of what a text no longer says.
--
-- Each row is found by its whole key: with "id = any (…)" PostgreSQL reads all texts of the user. It is deleted in a
-- statement of its own, which sees the row as a job left it for which this transaction has waited.
--
-- Under repeatable read a transaction cannot see a row that another session has committed meanwhile. Storing a text
-- fails with 40001 then. So that a deletion fails as well, and leaves nothing behind, it first stores the rows that it
-- deletes.
create or replace function memory._drop_texts(
  p_user_id text, p_source text, p_ids text[], p_kept text[] default '{}'
)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  gone constant text[] := array(select i from unnest(p_ids) as i except select k from unnest(p_kept) as k);
  places tid[];
begin
  if gone <> '{}' and current_setting('transaction_isolation') <> 'read committed' then
    insert into memory.texts as t (user_id, source, id, created_at, valid_until, words)
    select p_user_id, p_source, g, '-infinity', '-infinity', '' from unnest(gone) as g
    on conflict on constraint texts_pkey do update set valid_until = t.valid_until;
  end if;
  places := array(
    select f.place
    from unnest(gone) as g (id)
    cross join lateral (
      select x.ctid as place from memory.texts as x
      where x.user_id = p_user_id and x.source = p_source and x.id = g.id for update) as f);
  delete from memory.texts as t where t.ctid = any (places);
  places := array(
    select f.place
    from unnest(p_ids) as i (id)
    cross join lateral (
      select x.ctid as place from memory.embeddings as x
      where x.user_id = p_user_id and x.source = p_source and x.id = i.id
        and not exists (
          select from memory.texts as t
          where t.user_id = x.user_id and t.source = x.source and t.id = x.id and t.hash = x.hash)
      for update) as f);
  delete from memory.embeddings as e where e.ctid = any (places);
end;
$$;

-- These texts of a user as their source has them, without those that are gone.
create or replace function memory._source_texts(p_user_id text, p_source text, p_ids text[])
returns setof memory._source_text
language plpgsql stable parallel safe
as $$
begin
  case p_source
    {{each source:
    when '<source>' then return query select t.* from memory._<source>_texts(p_user_id, p_ids) as t;}}
  end case;
end;
$$;

-- The hash by which texts_keys_idx finds a word of one user. Two different words may have the same hash, so a reader of
-- the index compares the words, too.
create or replace function memory._word_key(p_user_id text, p_word text)
returns int
language sql immutable parallel safe
begin atomic
  select hashtext(p_user_id || chr(1) || p_word);
end;

-- Whether a text has its row: then rules have judged it, and its words are parsed.
create or replace function memory._is_parsed(p_user_id text, p_source text, p_id text)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return exists (
    select from memory.texts as t where t.user_id = p_user_id and t.source = p_source and t.id = p_id);
end;
$$;
