-- A message that is too long for a context is stored whole as an artifact, and a placeholder takes its place. This
-- happens before the message is booked in its thread, so that the thread counts the tokens of the short text, and no
-- compression is queued for a text that no context will hold.

-- Makes an artifact of a message's content, and returns the message with a placeholder. Returns the message itself if
-- the policy says that it stays whole, or if the placeholder would not be shorter. The key, the description and the
-- words around the placeholder reach more readers than the content, so under any policy they contain no credential. The
-- caller has checked and masked the message, and calls the function only if memory._may_be_long() is true. p_messages
-- is the array in which the message came; the call of the tool whose result the message is may stand there.
create or replace function memory._shortened(p_message memory.messages, p_policy jsonb, p_messages jsonb)
returns memory.messages
language plpgsql volatile parallel unsafe
as $$
declare
  about jsonb; -- metadata of the artifact
  around text[]; -- the texts before and after the placeholder
  described text;
  artifact memory.artifacts;
begin
  if memory._estimate_tokens(p_message.content) <= (p_policy #>> '{artifacts,threshold_tokens}')::int
    or not p_policy #> '{artifacts,roles}'
      ?| array[p_message.role, case p_message.role when 'assistant' then 'agent' end]
    or not (p_policy #>> '{artifacts,enabled}')::boolean
    or not (p_policy #>> '{resources,memory}')::boolean
    or memory._is_blank(p_message.content) then
    return p_message;
  end if;
  about := p_message.metadata - '{content,tool_calls,function_call}'::text[];
  if p_message.role = 'tool' then
    about := about || memory._json_masked(
      memory._call_of(p_message.user_id, p_message.thread_id, p_message.metadata, p_messages),
      array_remove(memory._masks(p_policy, true), 'credential'));
    around := memory._around_output(about);
    described := memory._describe('command_output', p_message.content, about);
  else
    around := memory._own_words(p_message.content);
    described := memory._describe('text', substr(p_message.content, length(around[1]) + 1,
      greatest(length(p_message.content) - length(around[1]) - length(around[2]), 0)), about);
    around := array[around[1] || e'\n\n', e'\n\n' || around[2]];
  end if;
  if octet_length(around[1] || described || around[2]) + 100 >= octet_length(p_message.content) then
    return p_message;
  end if;

  artifact := memory._keep_message(
    p_message.user_id, p_message.agent_id, p_message.thread_id,
    case p_message.role when 'tool' then 'command_output' else 'message' end, described, p_message.content, about);
  if artifact.key is null then
    return p_message;
  end if;
  if p_message.idempotency_key is not null then
    p_message.content_digest := memory._message_digest(p_message.role, p_message.content);
  end if;
  p_message.artifact_key := artifact.key;
  p_message.content := btrim(
    around[1] || memory._memory_ref(artifact.key, artifact.description, artifact.token_count) || around[2], e'\n');
  p_message.metadata := memory._with_text(p_message.metadata, p_message.content);
  return p_message;
end;
$$;

-- Stores a content under a telling key: npm-install, npm-install-2, ... The key begins with the first words of the
-- command (without its folder, variables and sudo), of the name of the tool, or of the description, at most 32
-- characters. The result is a row of nulls if the agent has just lost the resource memory.
create or replace function memory._keep_message(
  p_user_id text, p_agent_id text, p_thread_id text, p_artifact_type text, p_description text, p_content text,
  p_about jsonb
)
returns memory.artifacts
language plpgsql volatile parallel unsafe
as $$
declare
  slug text := lower(left(coalesce(p_about ->> 'command', p_about ->> 'tool', p_description), 1000));
  number int := 0;
  artifact memory.artifacts;
begin
  slug := regexp_replace(slug, e'^\\s*(?:(?:cd\\s+\\S+\\s*(?:&&|;)|sudo|env|time|[a-z_]+=\\S*)\\s+)+', '');
  slug := btrim(regexp_replace(slug, '[^a-z0-9]+', '-', 'g'), '-');
  if length(slug) > 32 then -- cuts at the end of a word, if the first word is not too long
    slug := coalesce(substring(left(slug, 33) from '^(.{8,})-'), left(slug, 32));
  end if;
  slug := coalesce(nullif(slug, ''), 'text');
  loop
    number := memory._free_number(p_user_id, slug, number + 1);
    artifact := memory._keep_artifact(
      p_user_id, p_agent_id, p_thread_id, memory._numbered_key(slug, number), p_description, p_artifact_type, p_content,
      p_about,
      -- The message is inserted within this statement, unless a trigger of the application leaves it out. If no message
      -- names the artifact a day later, a sweep deletes it.
      p_check_at => statement_timestamp() + interval '1 day', p_is_by_rule => true);
    -- Without a key, another session has just stored another content under it: the loop tries the next number.
    exit when artifact.key is not null or not memory._has_memory(p_user_id, p_agent_id);
  end loop;
  return artifact;
end;
$$;

-- The key with a number. The first key of a slug has none.
create or replace function memory._numbered_key(p_slug text, p_number int)
returns text
language sql immutable parallel safe
begin atomic
  select p_slug || case when p_number > 1 then '-' || p_number else '' end;
end;

-- A number from p_lowest on under which the user has no artifact of this slug. The function looks in steps that double:
-- 10,000 artifacts of a slug take 27 looks. It skips numbers that open transactions use, so that a transaction never
-- waits for another one to end; otherwise two transactions that store several outputs each could wait for each other.
-- Advisory locks note these numbers, in 1,024 places in all, because a transaction may store 100,000 outputs. Any role
-- can hold all these locks. A caller who gets no lock takes the next number and at worst waits.
create or replace function memory._free_number(p_user_id text, p_slug text, p_lowest int)
returns int
language plpgsql volatile parallel unsafe
as $$
declare
  taken int := p_lowest - 1; -- the last number in use, or p_lowest - 1
  free int := p_lowest;
  middle int;
begin
  while memory._is_taken_key(p_user_id, memory._numbered_key(p_slug, free)) loop
    taken := free;
    free := free * 2;
  end loop;
  while free - taken > 1 loop
    middle := (taken + free) / 2;
    if memory._is_taken_key(p_user_id, memory._numbered_key(p_slug, middle)) then
      taken := middle;
    else
      free := middle;
    end if;
  end loop;
  for attempt in 1..50 loop
    -- The key is looked up again after the lock: the transaction that held the lock may have stored it.
    exit when pg_try_advisory_xact_lock(
        hashtext('memory.artifacts'), hashtext(p_user_id || ' ' || memory._numbered_key(p_slug, free)) & 1023)
      and not memory._is_taken_key(p_user_id, memory._numbered_key(p_slug, free));
    free := free + 1;
  end loop;
  return free;
end;
$$;

create or replace function memory._is_taken_key(p_user_id text, p_key text)
returns boolean
language plpgsql volatile parallel safe -- sees rows committed since the statement began
as $$
begin
  return exists (select from memory.artifacts as a where a.user_id = p_user_id and a.key = p_key);
end;
$$;

-- Makes memory.sweep() check whether anything still names an artifact that was made of a message.
create or replace function memory._check_artifact_soon(p_user_id text, p_key text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  update memory.artifacts as a
  set check_at = statement_timestamp()
  where a.user_id = p_user_id and a.key = p_key and a.check_at is not null;
end;
$$;
