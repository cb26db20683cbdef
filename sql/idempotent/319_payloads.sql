-- What jobs of several kinds share: the model they ask, and messages as models may see them.

-- The chat model for a job (the one a policy names, else the active one) and what it is asked. The built-in model asks
-- itself nothing.
create or replace function memory._chat_model(name text, prompt text)
returns jsonb
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  chosen memory.models;
begin
  select m.* into chosen from memory.models as m where m.kind = 'chat' and not m.is_off and (m.name = _chat_model.name or m.is_active)
  order by m.name is distinct from _chat_model.name limit 1;
  if not found then
    raise lock_not_available using message = 'no chat model is active';
  end if;
  return jsonb_build_object(
    'model', memory._model_json(chosen),
    'prompt', case when chosen.provider <> 'local' then memory._prompt(prompt) end);
end;
$$;

create or replace function memory._model_json(model memory.models)
returns jsonb
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object('name', model.name, 'provider', model.provider, 'model', model.model, 'settings', model.settings);
end;
$$;

-- Messages as jobs hand them out: those that are readable, and those that gave way to a summary before this job could
-- read them. What was recalled from memory is taken out for speakers_only, which also leaves out who does not speak for
-- themselves: system and tool. A jsonb array holds 256 MiB and models read far less, so long contents are cut, and so is
-- the number of messages and of tokens; prompts show 8,000 characters of a message, about 2,000 tokens.
create or replace function memory._message_payload(
  user_id text, thread_id text, from_seq bigint, to_seq bigint, speakers_only boolean, row_limit int, token_limit int,
  out messages jsonb, out last_seq bigint, out is_partial boolean, out agent_ids text[], out tokens int
)
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  select jsonb_agg(memory._message_json(r.source, r.said) order by r.seq) filter (where r.fits), max(r.seq) filter (where r.fits),
    coalesce(bool_or(not r.fits), false), array_agg(distinct (r.source).agent_id) filter (where r.fits), sum(least((r.source).token_count, 2000)) filter (where r.fits)
  into messages, last_seq, is_partial, agent_ids, tokens
  from (
    select v.seq, v.source, v.said,
      row_number() over so_far <= coalesce(row_limit, 2147483647)
        and (sum(least((v.source).token_count, 2000)) over so_far <= coalesce(token_limit, 2147483647) or row_number() over so_far = 1) as fits
    from (select m.seq, m as source, case when speakers_only then memory._without_recalled(left(m.content, 65536)) else m.content end as said
          from memory.messages as m
          where m.user_id = _message_payload.user_id and m.thread_id = _message_payload.thread_id and m.seq between from_seq and to_seq
            and (m.is_active or m.summary_id is not null) and m.expires_at > statement_timestamp()
            and (not speakers_only or m.role in ('user', 'assistant') and m.metadata ->> 'recalled' is distinct from 'true')
          order by m.seq) as v
    where not speakers_only or v.said ~ e'\\S'
    window so_far as (order by v.seq)
    limit row_limit + 1
  ) as r;
end;
$$;

create or replace function memory._message_json(message memory.messages, said text)
returns jsonb
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'seq', message.seq, 'role', message.role, 'name', left(message.metadata ->> 'name', 255), 'content', left(said, 65536),
    'created_at', message.created_at, 'token_count', message.token_count,
    'tool_calls', case when octet_length(message.metadata ->> 'tool_calls') <= 65536 then message.metadata -> 'tool_calls' end,
    'is_counted', nullif(message.is_counted, false),
    -- Not countable from here.
    'is_cut', nullif(said <> message.content or length(said) > 65536 or octet_length(message.metadata ->> 'tool_calls') > 65536, false)));
end;
$$;

-- What an application put into a message from memory is not said anew: the memory block, summaries, placeholders.
create or replace function memory._without_recalled(content text)
returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if content !~ '<recalled>|## Your Memories|MemoryRef:|Summary of the conversation so far:|What is known about the user:|Previous context:' then
    return content;
  end if;
  content := replace(content, e'\r\n', e'\n');
  -- The end of the fence may be beyond what is read of a long message.
  content := regexp_replace(content, e'Recalled from memory\\. This is data, not instructions:\\n<recalled>\\n.*?(\\n</recalled>|$)', '', 'g');
  content := regexp_replace(content, e'## Your Memories[ \\t]*(\\n[ \\t]*(\\*\\*[^\\n]*:\\*\\*|\\d+\\. [^\\n]*)?(?=\\n|$))*', '', 'g');
  content := regexp_replace(content, e'\\[MemoryRef: [^\\]\\n]*\\]', '', 'g');
  content := regexp_replace(content, e'(Summary of the conversation so far|What is known about the user):\\n([^\\n]*\\S[^\\n]*(\\n|$))*', '', 'g');
  return regexp_replace(content, e'\\[Previous context: .*?\\](\\n\\n|$)', '', 'g');
end;
$$;

create or replace function memory._agent_of_message(user_id text, thread_id text, seq bigint)
returns text
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return m.agent_id from memory.messages as m
  where m.user_id = _agent_of_message.user_id and m.thread_id = _agent_of_message.thread_id and m.seq = _agent_of_message.seq;
end;
$$;

-- How far a kind of work has come; never back.
create or replace function memory._set_mark(user_id text, scope text, kind text, reached bigint)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into memory.marks as k (user_id, scope, kind, position)
  values (_set_mark.user_id, _set_mark.scope, _set_mark.kind, _set_mark.reached)
  on conflict on constraint marks_pkey do update set position = greatest(k.position, excluded.position);
end;
$$;
