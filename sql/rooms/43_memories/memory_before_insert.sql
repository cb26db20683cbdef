-- Before a memory is stored, this trigger applies the rules and defaults, and computes the words. PostgreSQL prepares
-- each expression anew in each transaction, so the usual case of a rule stands before its general form.
create or replace function memory._memory_before_insert()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
-- A session keeps the plan of its first call. On an empty table, or on one of four pages, that plan would read all.
set enable_seqscan = off
set jit = off
as $$
declare
  problem text;
  layers memory.policies[];
  is_known_type boolean;
  expired uuid;
  policy jsonb;
  words tsvector;
  judged memory.memories;
begin
  if {{are copied}} then
    return new;
  end if;
  if not memory._is_user(new.user_id) then -- PostgreSQL would not inline it inside memory._memory_problem()
    perform memory._check_id('user_id', new.user_id);
    new.memory_id := coalesce(new.memory_id, memory._uuid_v7());
    if not exists ( -- who says the same under the same id is not who wrote it
      select from memory.memories as m where m.user_id = new.user_id and m.memory_id = new.memory_id) then
      perform memory._note_writer(new.user_id, 'memory', new.memory_id::text, true);
    end if;
  end if;
  -- Values that mean the same get one spelling. Infinity becomes null, which every driver can read.
  if num_nulls(new.metadata, new.tags) > 0 then
    new.metadata := coalesce(new.metadata, '{}');
    new.tags := coalesce(new.tags, '{}');
  end if;
  if num_nonnulls(new.valid_from, new.valid_to) > 0 then
    new.valid_from := nullif(new.valid_from, 'infinity');
    new.valid_to := nullif(new.valid_to, 'infinity');
  end if;

  new.content_hash := memory._content_hash(new.content);
  -- Locks the counter of the agent, which is made when it is missing. The same statement reads the policy, looks up the
  -- type, and finds an expired memory with the same content, which no sweep has removed yet.
  loop
    select
      array(
        select p from memory.policies as p
        where memory._policy_applies(p.user_id, p.agent_id, new.user_id, new.agent_id)),
      exists (select from memory.memory_types as t where t.memory_type = new.memory_type),
      (select m.memory_id from memory.memories as m
       where m.user_id = new.user_id and m.agent_id = new.agent_id and m.content_hash = new.content_hash
         and memory._is_current(m) and m.expires_at <= statement_timestamp())
    into layers, is_known_type, expired
    from memory.memory_scopes as s
    where s.user_id = new.user_id and s.agent_id = new.agent_id
    for no key update;
    exit when found;
    problem := memory._memory_problem(new, true);
    if problem is not null then
      perform memory._refuse_memory(problem, new);
    end if;
    insert into memory.memory_scopes (user_id, agent_id) values (new.user_id, new.agent_id) on conflict do nothing;
  end loop;
  if (is_known_type and memory._is_ordinary(new)) is not true then
    problem := memory._memory_problem(new, true);
    if problem is not null then
      perform memory._refuse_memory(problem, new);
    end if;
  end if;

  if cardinality(layers) = 0 then
    policy := memory._default_policy();
  else
    policy := memory._merge_layers(layers);
    if policy #> '{masking,classes}' <> '[]' then
      new := memory._masked_memory(new, memory._masks(policy, false));
      perform memory._remove_expired_duplicate(new);
    end if;
  end if;

  -- A caller can only lower trust. The user states nearly every memory.
  if new.source = 'user' and new.source_seqs is null and not new.metadata ? 'trust' then
    new.is_stated := true;
    new.trust := 1;
  else
    new.is_stated := memory._states(new.source);
    new.trust := memory._memory_trust(new);
    -- The check comes after the lock: while this session waited for it, another session may have forgotten this
    -- content.
    if not new.is_stated and memory._is_forgotten(new.user_id, new.content) then
      return null;
    end if;
  end if;
  if not (policy #>> '{resources,memory}')::boolean then
    perform memory._note_missing_resource(new.agent_id, 'memory', 'nothing is stored');
    return null;
  end if;
  new.updated_at := statement_timestamp();
  new.created_at := coalesce(new.created_at, new.updated_at);
  if new.memory_id is null then
    new.memory_id := memory._uuid_v7();
  end if;
  if new.expires_at is not null then
    new.expires_at := nullif(new.expires_at, 'infinity'); -- an explicit "never" prevails over the policy
  elsif policy #>> '{memories,expires_after}' is not null then
    new.expires_at := nullif(memory._expiry(policy #>> '{memories,expires_after}'), 'infinity');
  end if;

  words := memory._memory_vector((policy #>> '{search,language}')::regconfig, new.content, new.embedding_text);
  if memory._is_long_entry(new.user_id, new.agent_id, words) then
    new.search_vector := null;
    new.long_search_vector := words;
  else
    new.search_vector := words;
    new.long_search_vector := null;
  end if;
  if not new.is_stated then
    -- An extracted memory stays out if its content is in quarantine already, by a rule or by a caller, under messages
    -- that are trusted at least as much as the messages behind the new memory.
    if exists (
      select from memory.memories as m
      where m.user_id = new.user_id and m.agent_id = new.agent_id
        and m.content_hash = new.content_hash
        and m.quarantined_at is not null and m.quarantined_with is null and m.trust >= new.trust) then
      return null;
    end if;
  end if;
  if memory._may_be_attack(new, policy) then
    judged := memory._judged_memory(new, true);
    if judged.user_id is null then
      return null;
    end if;
    new := judged;
  end if;

  -- An index refuses exact duplicates of current memories. Even a delete without a row enters the statement trigger.
  if expired is not null then
    delete from memory.memories as m
    where m.user_id = new.user_id
      and m.memory_id = expired
      and memory._is_current(new)
      and m.expires_at <= statement_timestamp(); -- another session may have prolonged its life meanwhile
  end if;
  return new;
end;
$$;
