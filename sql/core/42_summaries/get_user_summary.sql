create or replace function memory.get_user_summary(user_id text)
returns setof memory.thread_summary
language plpgsql stable parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  return query select * from memory._shown_summary(memory._latest_summary(user_id, '', 'user'));
end;
$$;
comment on function memory.get_user_summary(text) is
'The current profile of a user, made from the messages of all threads, or no row while there is none. end_seq + 1 is '
'the number of messages that it was made from.';
