-- Stores the receipt of an erasure, and returns it.
create or replace function memory._receipt(p_subject text, p_user_id text, p_reason text, p_tables jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  kept memory.receipts;
begin
  insert into memory.receipts (receipt_id, subject, user_hash, reason, tables, forgotten_at)
  values (memory._uuid_v7(), p_subject, memory._keyed_hash(memory._erasure_key(), p_user_id), p_reason, p_tables,
          clock_timestamp())
  returning * into kept;
  perform memory._audit('forget_' || p_subject, jsonb_build_object('receipt_id', kept.receipt_id),
    case p_subject when 'memory' then p_user_id end);
  return jsonb_build_object('receipt_id', kept.receipt_id, 'forgotten_at', memory._iso_time(kept.forgotten_at),
                            'tables', kept.tables);
end;
$$;

-- The reason without the user_id and the forgotten texts, because the receipt outlives both the user and the memory. A
-- mark replaces each such text. A text in another spelling cannot be cut out, so the mark replaces the whole reason.
create or replace function memory._reason_without(p_reason text, p_secrets text[])
returns text
language plpgsql immutable parallel safe
as $$
declare
  mark constant text := '[forgotten]';
  secret text;
begin
  perform memory._check_id('reason', coalesce(p_reason, 'none'));
  -- Longer texts are replaced first, because a short user_id may be a part of a statement.
  for secret in select s from unnest(p_secrets) as s order by length(s) desc loop
    p_reason := replace(p_reason, secret, mark);
  end loop;
  return case when exists (
      select from unnest(p_secrets) as s cross join lateral memory._compared_text(s) as c (said)
      where strpos(mark, c.said) = 0 and strpos(memory._compared_text(p_reason), c.said) > 0)
    then mark else p_reason end;
end;
$$;

-- Keeps workers from claiming jobs of a user until this transaction ends, and waits for claims that are under way.
-- Returns whether the user already had a row of kind claims. This lock comes before all locks of threads: a claim that
-- holds the row may wait for a thread in spite of its NOWAIT, if somebody has updated that thread since the claim's
-- statement began.
create or replace function memory._stop_claims(p_user_id text)
returns boolean
language plpgsql volatile parallel unsafe
as $$
declare
  is_new boolean;
begin
  insert into memory.marks as k (user_id, scope, kind, position) values (p_user_id, '', 'claims', 0)
  on conflict on constraint marks_pkey do update set position = mod(k.position, 1000000000) + 1
  returning k.xmax = 0 into is_new; -- xmax is 0 in a row that PostgreSQL has inserted
  return not is_new;
end;
$$;
