-- Documents in quarantine: no search finds them, and lists show them only if asked.

-- Puts a document into quarantine if a rule finds signs in its title or in the first p_max_chars of its text (null: in
-- all of it). A document that somebody has released stays out of quarantine.
create or replace function memory._judge_document(p_document memory.documents, p_max_chars int default null)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  signs text;
begin
  if p_document.quarantined_at is null and p_document.released_at is null
    and (memory._policy_section(
      p_document.user_id, memory._document_agent(p_document.agent_ids), 'trust') ->> 'rules')::boolean then
    signs := memory._verdict(
      concat_ws(e'\n', p_document.title, left(p_document.content, coalesce(p_max_chars, 10485760))),
      p_document.trust);
    if signs is not null then
      perform memory._quarantine_document(p_document.user_id, p_document.document_id, 'rule: ' || signs);
    end if;
  end if;
end;
$$;

-- Puts a new text of low trust into quarantine until the screen model has judged it, if the policy says so.
create or replace function memory._await_verdict(p_document memory.documents)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  reason text;
begin
  if memory._is_low(p_document.trust) and p_document.quarantined_at is null and p_document.released_at is null
    and (memory._policy_section(
      p_document.user_id, memory._document_agent(p_document.agent_ids), 'trust') ->> 'screen')::boolean then
    reason := memory._judge_later(p_document.user_id);
    if reason is not null then
      perform memory._quarantine_document(p_document.user_id, p_document.document_id, reason);
    end if;
  end if;
end;
$$;

-- Puts a document into quarantine; returns false when there is no such document, or it is in quarantine already.
-- Memories that an article had superseded become current again.
create or replace function memory._quarantine_document(
  p_user_id text, p_document_id uuid, p_reason text, p_with text default null
)
returns boolean
language plpgsql volatile parallel unsafe
as $$
begin
  update memory.documents as d
  set quarantined_at = statement_timestamp(), quarantine_reason = left(p_reason, 1000), quarantined_with = p_with,
      released_at = null
  where d.user_id = p_user_id and d.document_id = p_document_id and d.quarantined_at is null;
  if not found then
    return false;
  end if;
  perform memory._release_hidden(p_user_id, p_document_id, null, true);
  return true;
end;
$$;

-- Takes a document out of quarantine; returns false when it is not in quarantine. An article hides its memories again.
create or replace function memory._release_document(p_user_id text, p_document_id uuid)
returns boolean
language plpgsql volatile parallel unsafe
as $$
declare
  since timestamptz;
begin
  select d.quarantined_at into since from memory.documents as d
  where d.user_id = p_user_id and d.document_id = p_document_id and d.quarantined_at is not null for update;
  if not found then
    return false;
  end if;
  update memory.documents as d
  set quarantined_at = null, quarantine_reason = null, quarantined_with = null, released_at = statement_timestamp()
  where d.user_id = p_user_id and d.document_id = p_document_id;
  perform memory._hide_released(p_user_id, p_document_id, since);
  return true;
end;
$$;
