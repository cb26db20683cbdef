-- Before a memory is stored, this trigger applies the rules and defaults.
create or replace function memory._memory_before_insert()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  policy jsonb;
begin
  if {{are copied}} then
    return new;
  end if;
  if not memory._is_user(new.user_id) then
    perform memory._check_id('user_id', new.user_id);
    new.memory_id := coalesce(new.memory_id, memory._uuid_v7());
    if not exists ( -- if the id exists, another session has written the memory
      select from memory.memories as m where m.user_id = new.user_id and m.memory_id = new.memory_id) then
      perform memory._note_writer(new.user_id, 'memory', new.memory_id::text, true);
    end if;
  end if;
  -- The subject may stand in the metadata, where applications that store memories as JSON put it.
  new.subject := coalesce(new.subject, case when jsonb_typeof(new.metadata -> 'subject') = 'string'
    and length(btrim(new.metadata ->> 'subject')) between 1 and 255 then btrim(new.metadata ->> 'subject') end);
  new := memory._checked_memory(new, true);

  perform memory._lock_scope(new.user_id, new.agent_id);
  policy := memory._policy(new.user_id, new.agent_id);
  new := memory._masked_memory(new, memory._masks(policy, false));
  new.content_hash := memory._content_hash(new.content);
  -- An index refuses exact duplicates, even of a memory that has expired and waits for a sweep.
  perform memory._remove_expired_duplicate(new);

  new.is_stated := memory._states(new.source);
  new.trust := memory._memory_trust(new); -- a caller can only lower it
  -- This check comes after the lock, because another session may have forgotten this content meanwhile.
  if not new.is_stated and memory._is_forgotten(new.user_id, new.content) then
    return null;
  end if;
  if not (policy #>> '{resources,memory}')::boolean then
    perform memory._note_missing_resource(new.agent_id, 'memory', 'nothing is stored');
    return null;
  end if;
  new.updated_at := statement_timestamp();
  new.created_at := coalesce(new.created_at, new.updated_at);
  new.memory_id := coalesce(new.memory_id, memory._uuid_v7());
  -- An explicit expires_at of infinity ("never") prevails over the policy.
  new.expires_at := nullif(coalesce(new.expires_at, memory._expiry(policy #>> '{memories,expires_after}')), 'infinity');

  -- An extracted memory is not stored if a memory of the same content was put into quarantine by a rule or a caller,
  -- and that memory rests on messages of at least the same trust.
  if not new.is_stated and exists (
    select from memory.memories as m
    where m.user_id = new.user_id and m.agent_id = new.agent_id and m.content_hash = new.content_hash
      and m.quarantined_at is not null and m.quarantined_with is null and m.trust >= new.trust) then
    return null;
  end if;
  if new.deleted_at is null then
    new := memory._judged_memory(new, policy -> 'trust');
    if new.quarantined_at is not null and exists ( -- the same attack is in quarantine already
      select from memory.memories as m
      where m.user_id = new.user_id and m.agent_id = new.agent_id and m.content_hash = new.content_hash
        and m.quarantined_at is not null) then
      return null;
    end if;
  end if;
  -- With policy extraction.review an extracted memory stays hidden until somebody has looked at it. The mark in
  -- metadata tells memories that await a review from memories that are in quarantine for the same source or verdict.
  if not new.is_stated and new.source = 'extraction' and (policy #>> '{extraction,review}')::boolean then
    new.metadata := '{"awaits_review": {}}' || new.metadata;
    if new.quarantined_at is null then
      new.deleted_at := 'infinity';
      new.quarantined_at := statement_timestamp();
      new.quarantine_reason := 'review';
      new.operation := 'quarantine';
    end if;
  end if;
  return new;
end;
$$;
