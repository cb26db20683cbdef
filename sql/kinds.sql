-- Row security is added after the functions that it calls (grants.sql), and locks are taken here, before those
-- functions: afterwards memory._unbind() would leave our views empty.
do $locks$
begin
  if exists (select from memory._missing_row_security()) then
    call memory._lock();
  end if;
end;
$locks$;

-- The kinds of jobs are the folders of core/50_work. memory.jobs accepts these and no others, and the claims of
-- each kind have a sequence: memory.claim_jobs() keeps in it the place of the user who had the last turn.
--
-- The constraint is replaced only when its list differs, so that an upgrade that brings no kind locks nothing. It is
-- added NOT VALID and validated after the commit of this file (privileges.sql), where the scan of all jobs blocks
-- nobody: within the transaction, which has locked all tables, it took 1 to 2 s for a million jobs (two cores, busy).
do $kinds$
declare
  kinds constant text[] := array[{{kinds}}];
  accepted text[];
  kind text;
begin
  accepted := (
    select substring(pg_get_constraintdef(c.oid) from '{.*}')
    from pg_constraint as c
    where c.conrelid = 'memory.jobs'::regclass and c.conname = 'kind_is_known');
  if (accepted @> kinds and accepted <@ kinds) is not true then
    call memory._lock();
    alter table memory.jobs
      drop constraint if exists kind_is_known,
      add constraint kind_is_known check (kind = any ('{{{kinds unquoted}}}')) not valid;
  end if;
  foreach kind in array kinds loop
    if to_regclass('memory.turn_of_' || kind) is null then
      execute format('create sequence memory.%I minvalue -4611686018427387904 start 0', 'turn_of_' || kind);
      execute format('comment on sequence memory.%I is %L', 'turn_of_' || kind,
        'Which user had the last turn among claims of this kind: a hash of the id, halved.');
    end if;
  end loop;
end;
$kinds$;
