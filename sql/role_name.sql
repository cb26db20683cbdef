-- What a role of agent_memory is named in this database, as roles.sql has decided. The names are in the text of the
-- function, because no session can change them there, reading them costs a call nothing, and a dump contains them.
do $role_name$
begin
  execute format($function$
    create or replace function memory._role_name(p_role text)
    returns text
    language sql immutable parallel safe
    as $body$select pg_catalog.replace('%s', '*', p_role)$body$
    $function$, current_setting('agent_memory.role_names'));
end;
$role_name$;
