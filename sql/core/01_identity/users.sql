-- Whether a user_id is a valid id of a user whom this session may reach and whom this server serves. If the result is
-- false, the caller asks memory._check_id(), which accepts a space that this session may write and refuses the rest.
create or replace function memory._is_user(p_user_id text)
returns boolean
language sql stable parallel unsafe
begin atomic
  select memory._is_id(p_user_id) and memory._may_reach(p_user_id) and memory._is_here(p_user_id);
end;

-- Refuses an id (of a user, thread, agent or model, for example) that is null, empty or longer than 255 characters. If
-- the argument is user_id, the function also refuses a user whom this session may not reach, a space that it may not
-- write, and a user whom another node of the cluster serves. The function is not parallel safe, because a worker of a
-- parallel plan cannot lock the row of a space.
create or replace function memory._check_id(p_argument text, p_id text)
returns void
language plpgsql stable parallel unsafe
as $$
begin
  if not memory._is_id(p_id) then
    perform memory._refuse(p_argument,
      case
        when p_id is null then 'must not be null'
        when p_id = '' then 'must not be empty'
        else format('has %s characters, at most 255 are allowed', length(p_id))
      end,
      format('Pass %s as 1 to 255 characters of your own choice.', p_argument));
  elsif p_argument = 'user_id' and not memory._may_reach(p_id) then
    if memory._is_space(p_id) then
      perform memory._check_space(p_id, true);
    else
      perform memory._refuse_foreign_user();
    end if;
  elsif p_argument = 'user_id' and not memory._is_here(p_id) then
    perform memory._refuse_other_node(p_id);
  end if;
end;
$$;

-- Refuses the users that memory._check_id('user_id', ...) refuses, but accepts a space that this session may only read.
create or replace function memory._check_reader(p_user_id text)
returns void
language plpgsql stable parallel safe
as $$
begin
  if memory._is_space(p_user_id) and memory._is_id(p_user_id) then
    perform memory._check_space(p_user_id, false);
  else
    perform memory._check_id('user_id', p_user_id);
  end if;
end;
$$;

-- Refuses null, which means all users, in a session that may reach only one user. Any other user_id goes to
-- memory._check_id().
create or replace function memory._check_user_or_all(p_user_id text)
returns void
language plpgsql stable parallel unsafe
as $$
begin
  if p_user_id is not null then
    perform memory._check_id('user_id', p_user_id);
  elsif memory._is_tenant() then
    perform memory._refuse_foreign_user();
  end if;
end;
$$;

-- Refuses a user whom this session may not reach. The error is the same whether the user exists or not.
create or replace function memory._refuse_foreign_user()
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._refuse('user_id', 'is not the user of this session',
    'memory.tenant_user() says which user that is. A role of your application''s server reaches other users.', '42501');
end;
$$;

-- Refuses a token, or another claim of who the session's user is.
create or replace function memory._refuse_token(p_problem text, p_setting text default 'agent_memory.token')
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._refuse(p_setting, p_problem,
    case p_setting when 'agent_memory.token' then
      'Within the transaction, pass the token that your server has made: '
      'select set_config(''agent_memory.token'', $1, true). See docs/tenants.md.'
    else 'Whoever verifies the tokens of users, such as PostgREST, sets the claims within the transaction. '
      'See docs/tenants.md.' end, '42501');
end;
$$;
