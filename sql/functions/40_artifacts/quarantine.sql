-- Artifacts in quarantine: no search finds them, no list and no context shows them, and nobody expands them. A message
-- that names one keeps its placeholder, whose words a rule judges with the message. memory.retrieve_artifact() returns
-- what a rule has put into quarantine to whoever asks for it by its key.
--
-- A rule looks at an artifact when a job parses its first part (memory._parse_parts()). Until then
-- memory._is_held_back_artifact() looks at it wherever its text is shown to a model.

-- The trust of an artifact. What a message became has the trust of the message, or the least of several; everything
-- else counts as the output of a tool. metadata.trust can lower both.
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
  return least(coalesce(said, 0.4), memory._lowered(p_artifact.metadata));
end;
$$;

-- The signs for which an artifact is to be quarantined; null when there are none. Description and the first 64 KiB are
-- looked at (a character has four bytes at most), piece by piece. "Call the function" is said in so much code and so
-- many manuals that it does not suffice here: it alone made half of the false alarms among files of 3 to 64 KiB.
create or replace function memory._artifact_verdict(p_artifact memory.artifacts)
returns text
language plpgsql volatile parallel safe -- as memory._content_bytes()
as $$
declare
  said constant text := concat_ws(e'\n', p_artifact.description,
    left(memory._content_slice(p_artifact.user_id, p_artifact.content_id, 0, 262144), 65536));
  trust constant double precision := memory._artifact_trust(p_artifact);
  piece text;
  signs text;
begin
  foreach piece in array memory._pieces_to_judge(said) loop
    signs := nullif(memory._verdict(piece, trust), 'a call of a tool');
    if signs is not null then
      return signs;
    end if;
  end loop;
  return null;
end;
$$;

-- Whether an artifact must not be shown although it is not in quarantine yet: no job has parsed it, and a rule finds
-- signs in it.
create or replace function memory._is_held_back_artifact(p_user_id text, p_key text)
returns boolean
language plpgsql stable parallel safe
as $$
declare
  artifact memory.artifacts;
begin
  select a.* into artifact from memory.artifacts as a
  where a.user_id = p_user_id and a.key = p_key and a.released_at is null;
  return found
    and exists (
      select from memory.artifact_parts as p
      where p.user_id = p_user_id and p.content_id = artifact.content_id and p.first_byte = 0
        and p.search_vector is null)
    and (memory._policy_section(p_user_id, null, 'trust') ->> 'rules')::boolean
    and memory._artifact_verdict(artifact) is not null; -- last, because it may take 0.3 s
end;
$$;

-- Puts an artifact into quarantine if a rule finds signs in it. False when another transaction has locked it: that one
-- may wait for a part which this transaction has locked, so this one does not wait for it.
create or replace function memory._judge_artifact(p_user_id text, p_key text)
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
  signs := memory._artifact_verdict(artifact);
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

-- Puts an artifact into quarantine; false when there is none, or it is there already. What a rule has put there can be
-- put there for another reason, and then nobody can read it.
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
