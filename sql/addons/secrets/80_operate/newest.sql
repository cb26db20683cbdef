-- For the doctor's check of the clock: the newest time of a reading of a secret, and whether one has the time infinity.
create or replace function memory._secrets_newest(out name text, out newest timestamptz, out is_endless boolean)
language sql stable parallel safe
begin atomic
  select 'secret_reads.read_at', (select max(r.read_at) from memory.secret_reads as r where r.read_at < 'infinity'),
    exists (select from memory.secret_reads as r where r.read_at = 'infinity');
end;
