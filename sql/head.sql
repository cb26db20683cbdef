begin isolation level read committed;
set local search_path = pg_catalog, pg_temp;
set local client_min_messages = warning;
-- An upgrade that cannot get a lock within this time fails. Longer waits would block the application, because its
-- statements queue behind the waiting upgrade.
set local lock_timeout = '10s';

do $head$
declare
  existing_owner text;
  other_owner text;
  renamed text;
  vector_schema text;
  installed text;
begin
  if current_setting('server_version_num')::int < 150000 then
    raise exception 'agent_memory needs PostgreSQL 15 or newer, this is %', current_setting('server_version')
      using errcode = '0A000', hint = 'Upgrade the server first.';
  end if;
  -- Other encodings lack most characters of other people's messages, and functions that ask for a character fail there.
  if getdatabaseencoding() <> 'UTF8' then
    raise exception 'agent_memory needs a database in UTF8, the encoding of "%" is %', current_database(),
        getdatabaseencoding()
      using errcode = '0A000', hint = 'Make one: createdb --encoding=UTF8 --template=template0 --locale=C.UTF-8 NAME. '
        'What an older agent_memory has stored here, "agent-memory users export" and "import" carry there.';
  elsif current_setting('client_encoding') <> 'UTF8' then
    raise exception 'this file is in UTF8, your session says that it sends %', current_setting('client_encoding')
      using errcode = '22021', hint = 'Set the variable PGCLIENTENCODING=UTF8 and run this file again.';
  end if;
  perform set_config('agent_memory.extensions', (select array_agg(e.extname)::text from pg_extension as e), true);

  -- One installer at a time: a second one waits here and then finds everything in place. The lock is advisory, because
  -- there may be no table yet. Any role could take and keep it; then an installer fails after lock_timeout and pg_locks
  -- names the holder. Nothing else takes this lock, so an existing installation is not affected.
  perform pg_advisory_xact_lock(hashtextextended('agent_memory install', 0));

  select pg_get_userbyid(nspowner) into existing_owner from pg_namespace where nspname = 'memory';
  if existing_owner <> current_user then
    raise exception 'schema "memory" belongs to role "%", you are "%"', existing_owner, current_user
      using errcode = '42501',
        hint = format('Connect as %I, or run "set role %1$I" first.', existing_owner);
  end if;
  select pg_get_userbyid(o.owner) into other_owner
  from (select c.relowner from pg_class as c
        where c.relnamespace = to_regnamespace('memory') and c.relname = any (array[{{tables}}])
        union all
        select p.proowner from pg_proc as p
        where p.pronamespace = to_regnamespace('memory') and p.proname like e'\\_%') as o (owner)
  where o.owner <> current_user::regrole
  limit 1;
  if other_owner is not null then
    raise exception 'schema "memory" is yours, but objects of agent_memory in it belong to role "%"', other_owner
      using errcode = '42501', hint = format('A superuser runs in this database "reassign owned by %I to %I", or gives '
        'the schema back: "alter schema memory owner to %1$I".', other_owner, current_user);
  end if;
  if existing_owner is not null and to_regclass('memory.migrations') is null
    and exists (select from pg_class where relnamespace = to_regnamespace('memory')
                union all select from pg_type where typnamespace = to_regnamespace('memory')
                union all select from pg_proc where pronamespace = to_regnamespace('memory')) then
    raise exception 'schema "memory" exists and holds something that is not agent_memory'
      using errcode = '42P06', hint = 'Install under another name: agent-memory install --schema NAME';
  end if;

  -- Functions call each other by the name that the schema had when they were made.
  select n.nspname into renamed
  from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
  where existing_owner is null and p.proname = 'sweep' and p.prosrc ~ '(^|\W)memory[.]_refuse[(]'
  limit 1;
  if renamed is not null then
    raise exception 'schema "%" was schema "memory" when agent_memory was installed there', renamed
      using errcode = '42P06', detail = 'Its functions would call those that are installed now.',
        hint = format('Rename it back, or have its functions made anew: agent-memory install --schema %s', renamed);
  end if;

  if not exists (select from pg_extension where extname = 'vector') then
    begin
      create extension vector schema public;
    exception when others then
      raise exception 'agent_memory needs the extension "vector" (pgvector): %', sqlerrm
        using errcode = '0A000',
          hint = case
            when exists (select from pg_available_extensions where name = 'vector')
            then format('It is on the server already: have a superuser run "create extension vector" in database %I, '
                        'then run this again.', current_database())
            else 'Install pgvector on the server (on Debian: postgresql-NN-pgvector), '
                 'then run "create extension vector" as a superuser.' end;
    end;
  end if;
  -- hnsw.iterative_scan came with 0.8. Without it a search of the index, which has all users' memories, returns too few
  -- of one user.
  select e.extversion into installed from pg_extension as e where e.extname = 'vector';
  if string_to_array(installed, '.')::int[] < '{0,8}' then
    raise exception 'agent_memory needs pgvector 0.8 or newer, this is %', installed
      using errcode = '0A000', hint = 'Install a newer one on the server, then run "alter extension vector update".';
  end if;
  -- Secrets need pgcrypto (49_secrets), and nothing else does. Where this role cannot create it, memory.set_secret()
  -- says so. It need not be a superuser: CREATE on the database suffices.
  if not exists (select from pg_extension where extname = 'pgcrypto') then
    begin
      create extension pgcrypto schema public;
    exception when others then
      null;
    end;
  end if;
  -- pgvector may be installed in any schema. That schema is on the search_path only while functions are created that
  -- name pgvector's types: a role that may create objects there could otherwise have our functions call its own.
  select nspname into vector_schema
  from pg_extension join pg_namespace on pg_namespace.oid = extnamespace
  where extname = 'vector';
  if not has_schema_privilege(vector_schema, 'usage') then
    raise exception 'role "%" may not use schema "%", where pgvector is', current_user, vector_schema
      using errcode = '42501',
        hint = format('Have its owner run: grant usage on schema %I to %I', vector_schema, current_user);
  end if;
  perform set_config('agent_memory.vector_schema', vector_schema, true);
  perform set_config('agent_memory.view_options', '', true); -- of a file that ran earlier in this transaction
end;
$head$;

-- "create schema if not exists" would need the CREATE right on the database even if an administrator made the schema.
do $schema$
begin
  if to_regnamespace('memory') is null then
    create schema memory;
  end if;
end;
$schema$;
comment on schema memory is
'Agent memory: conversation history, summaries, long-term memories, search. See memory.doctor() for the state of this '
'installation.';

create table if not exists memory.migrations (
  name text primary key,
  sha256 text not null,
  version text not null,
  applied_at timestamptz not null default statement_timestamp()
);
comment on table memory.migrations is
'How the tables of this installation were made, with the hash of what ran: at once, or by migrations from the tables '
'of an earlier version. The newest version of the core, and of each add-on, is that of its tables.';
comment on column memory.migrations.name is
'The version whose tables were made at once, or the migration: <from>-<to>. Before those of an add-on stands its name.';
comment on column memory.migrations.sha256 is 'SHA-256 of the statements that ran.';
comment on column memory.migrations.version is 'The version of the tables from then on.';
comment on column memory.migrations.applied_at is 'When it ran.';

do $known$
declare
  installed text;
  strange record;
begin
  if to_regprocedure('memory.version()') is not null then
    execute 'select memory.version()' into installed;
  end if;
  perform set_config('agent_memory.installed', coalesce(installed, ''), true);
  select m.name, m.version,
    string_to_array(m.version, '.')::int[] > string_to_array('{{version}}', '.')::int[] as is_newer
  into strange
  from memory.migrations as m
  where (m.name, m.sha256) not in (
    values
{{known migrations}})
  order by string_to_array(m.version, '.')::int[] desc, m.name
  limit 1;
  if strange.is_newer then
    raise exception 'this database has agent_memory %, this file is %', strange.version, '{{version}}'
      using errcode = '0A000', hint = 'Install the newer file; there is no way back to an older one.';
  elsif rtrim(strange.name, '0123456789.- ') not in (
    select p.part from (values {{versions of tables}}) as p (part, version)) then
    raise exception 'this database has add-ons that this file lacks (%)', (
        select string_agg(distinct rtrim(m.name, '0123456789.- '), ', ') from memory.migrations as m
        where rtrim(m.name, '0123456789.- ') not in (
          select p.part from (values {{versions of tables}}) as p (part, version)))
      using errcode = '0A000', hint = 'Run the file that has all of them: agent-memory install.';
  elsif strange.name is not null then
    raise exception 'this database has tables of an agent_memory % that was never released (%)', strange.version,
        strange.name
      using errcode = '0A000',
        hint = 'This file upgrades released versions. Install into another database, and export and import the users.';
  end if;
end;
$known$;
