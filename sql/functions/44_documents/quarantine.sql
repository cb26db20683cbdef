-- Documents in quarantine: no search finds them, and lists show them only if asked.

-- The signs for which a document is to be quarantined; null when there are none. Title and the first 64 KiB are looked
-- at, which takes as long as parsing their words.
create or replace function memory._document_verdict(p_document memory.documents)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return memory._verdict(concat_ws(e'\n', p_document.title, left(p_document.content, 65536)), p_document.trust);
end;
$$;

-- Puts a document into quarantine; false when there is none, or it is there already. Memories that an article had
-- superseded are current again.
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
  perform memory._release_hidden(p_user_id, p_document_id, null);
  return true;
end;
$$;

-- Takes a document out of quarantine; false when it is not there. An article hides its memories again.
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
