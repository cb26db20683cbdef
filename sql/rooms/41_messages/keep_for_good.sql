-- Keeps messages for good unless a policy says otherwise. The embedded store calls this when it is made or upgraded:
-- nobody sees to its jobs while the program is off, and a person does not expect a store on a disk to forget. What has
-- the built-in lifetime is kept as well, unless some policy sets one.
create or replace function memory._keep_messages_for_good()
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  if exists (select from memory.policies as p where p.user_id = '' and p.agent_id = ''
             and p.settings #> '{messages,expires_after}' is not null) then
    return;
  end if;
  perform memory.set_policy('{"messages": {"expires_after": "never"}}');
  update memory.messages as m
  set expires_at = 'infinity'
  where m.expires_at > statement_timestamp() and m.expires_at < 'infinity'
    and m.expires_at = m.created_at + memory._message_lifetime(memory._default_policy())
    and not exists (select from memory.policies as p where (p.user_id <> '' or p.agent_id <> '')
                    and p.settings #> '{messages,expires_after}' is not null);
end;
$$;
