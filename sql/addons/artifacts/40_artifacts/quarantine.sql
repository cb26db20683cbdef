-- Artifacts in quarantine: no search finds them, no list and no context shows them, and nobody expands them. A message
-- that names such an artifact keeps its placeholder, whose words a rule judges with the message. If a rule has put an
-- artifact into quarantine, memory.retrieve_artifact() still returns it to any caller that names its key.
--
-- A rule judges each part of an artifact when a job parses the part (memory._artifacts_parse()), so every parsed part
-- has been judged. Until then memory._is_held_back_artifact() judges a part wherever its text is shown to a model.

-- The trust of an artifact. An artifact that was made of messages has the least trust of these messages; every other
-- artifact counts as the output of a tool. metadata.trust can lower both.
create or replace function memory._artifact_trust(p_artifact memory.artifacts)
returns double precision
language plpgsql stable parallel safe
as $$
declare
  said double precision;
begin
  if p_artifact.artifact_type = 'message' then
    select min(memory._message_trust(m.role, m.metadata)) into said from memory.messages as m
    where m.user_id = p_artifact.user_id and m.thread_id = p_artifact.thread_id
      and m.artifact_key = p_artifact.key;
  end if;
  return least(coalesce(said, memory._source_trust('tool')), memory._lowered(p_artifact.metadata));
end;
$$;

-- The parts that a rule has not judged yet and must judge before these bytes of a content are shown. The first part is
-- always among them, because the description is judged with it.
create or replace function memory._unjudged_parts(p_user_id text, p_content_id uuid, p_bytes int4multirange)
returns setof memory.artifact_parts
language sql stable parallel safe
begin atomic
  select p.* from memory.artifact_parts as p
  where p.user_id = p_user_id and p.content_id = p_content_id and not p.is_parsed
    and (p.first_byte = 0
         or int4range(p.first_byte, p.first_byte + memory._part_bytes(p.first_byte)) && p_bytes);
end;

-- The signs that put an artifact into quarantine; null when there are none. The function judges the description, and
-- the parts that memory._unjudged_parts() names, each with the 200 characters before it, so that no sign is cut in two.
create or replace function memory._artifact_verdict(p_artifact memory.artifacts, p_bytes int4multirange)
returns text
language plpgsql volatile parallel safe -- for the reason given in memory._content_bytes()
as $$
begin
  return memory._verdict(
    concat_ws(e'\n', p_artifact.description, (
      select string_agg(concat(b.said, p.content), e'\n' order by p.first_byte)
      from memory._unjudged_parts(p_artifact.user_id, p_artifact.content_id, p_bytes) as p
      left join lateral (
        select right(q.content, 200) as said from memory.artifact_parts as q
        where q.user_id = p_artifact.user_id and q.content_id = p_artifact.content_id and q.first_byte < p.first_byte
        order by q.first_byte desc limit 1) as b on true)),
    memory._artifact_trust(p_artifact));
end;
$$;

-- Whether these bytes of an artifact must not be shown although it is not in quarantine. They must not if the screen
-- model has not judged the artifact yet, or if a rule finds signs in bytes that no job has parsed.
create or replace function memory._is_held_back_artifact(p_user_id text, p_key text, p_bytes int4multirange)
returns boolean
language plpgsql stable parallel safe
as $$
declare
  artifact memory.artifacts;
begin
  select a.* into artifact from memory.artifacts as a
  where a.user_id = p_user_id and a.key = p_key and a.released_at is null;
  return found and (memory._artifact_awaits_verdict(artifact) or memory._is_poisoned_artifact(artifact, p_bytes));
end;
$$;

-- Whether a rule finds signs in these bytes of an artifact that no job has parsed.
create or replace function memory._is_poisoned_artifact(p_artifact memory.artifacts, p_bytes int4multirange)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return p_artifact.released_at is null
    and exists (select from memory._unjudged_parts(p_artifact.user_id, p_artifact.content_id, p_bytes))
    and (memory._policy_section(p_artifact.user_id, null, 'trust') ->> 'rules')::boolean
    and memory._artifact_verdict(p_artifact, p_bytes) is not null; -- last, because it takes longest
end;
$$;

-- Whether an artifact of low trust must not be shown yet, because the screen model has not judged it yet.
create or replace function memory._artifact_awaits_verdict(p_artifact memory.artifacts)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return (memory._policy_section(p_artifact.user_id, null, 'trust') ->> 'screen')::boolean
    and p_artifact.released_at is null and memory._is_low(memory._artifact_trust(p_artifact));
end;
$$;

-- Puts an artifact into quarantine if a rule finds signs in these bytes and no job has parsed them. Returns false when
-- another transaction has locked the artifact: this transaction does not wait, because the other one may wait for a
-- part that this one has locked.
create or replace function memory._judge_artifact(p_user_id text, p_key text, p_bytes int4multirange)
returns boolean
language plpgsql volatile parallel unsafe
as $$
declare
  artifact memory.artifacts;
  signs text;
begin
  select a.* into artifact from memory.artifacts as a
  where a.user_id = p_user_id and a.key = p_key and a.released_at is null and a.quarantined_at is null;
  if not found or not (memory._policy_section(p_user_id, null, 'trust') ->> 'rules')::boolean then
    return true;
  end if;
  signs := memory._artifact_verdict(artifact, p_bytes);
  if signs is null then
    return true;
  end if;
  perform from memory.artifacts as a where a.user_id = p_user_id and a.key = p_key for no key update skip locked;
  if not found then
    return false;
  end if;
  perform memory._quarantine_artifact(p_user_id, p_key, 'rule: ' || signs);
  return true;
end;
$$;

-- Puts an artifact into quarantine; returns false when there is no such artifact, or a caller has put it there already.
-- If a rule has put it there, a call makes it unreadable for everybody.
create or replace function memory._quarantine_artifact(p_user_id text, p_key text, p_reason text)
returns boolean
language plpgsql volatile parallel unsafe
as $$
begin
  update memory.artifacts as a
  set quarantined_at = statement_timestamp(), quarantine_reason = left(p_reason, 1000), released_at = null
  where a.user_id = p_user_id and a.key = p_key
    and (a.quarantined_at is null or a.quarantine_reason like 'rule: %');
  return found;
end;
$$;

-- Takes an artifact out of quarantine; returns false when it is not in quarantine.
create or replace function memory._release_artifact(p_user_id text, p_key text)
returns boolean
language plpgsql volatile parallel unsafe
as $$
begin
  update memory.artifacts as a
  set quarantined_at = null, quarantine_reason = null, released_at = statement_timestamp()
  where a.user_id = p_user_id and a.key = p_key and a.quarantined_at is not null;
  return found;
end;
$$;
