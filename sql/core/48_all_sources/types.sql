-- The row that memory.backfill_status() returns.
create type memory.backfill as (model text, done bigint, total bigint, is_active boolean);
comment on type memory.backfill is 'How far an embedding model is, as memory.backfill_status() returns it.';
