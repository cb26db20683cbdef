-- The rows that the functions of quarantine return.
create type memory.quarantined as (
  source text, id text, content text, trust real, quarantined_at timestamptz, reason text, quarantined_with text,
  total_count bigint
);
comment on type memory.quarantined is 'Something in quarantine, as memory.list_quarantined() shows it.';
