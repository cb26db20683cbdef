-- The time zone by which the days of a message are counted, in the form that "at time zone" takes: the one that its
-- thread names in metadata, else the one of the policy, else the offset that its created_at was written with, else UTC.
-- Without p_seq, or if that message is gone, the newest message of the thread decides, and without p_thread_id the
-- newest thread of the user. The zone is read when a day is shown or compared, so that no write pays for it.
create or replace function memory._zone_of(p_user_id text, p_thread_id text default null, p_seq bigint default null)
returns text
language plpgsql stable parallel unsafe
as $$
begin
  if p_thread_id is null then
    p_thread_id := (
      select n.thread_id
      from ((select t.thread_id, t.last_at from memory.threads as t
             where t.user_id = p_user_id and t.settled_at is null order by t.last_at desc nulls last limit 1)
            union all
            (select t.thread_id, t.last_at from memory.threads as t
             where t.user_id = p_user_id and t.settled_at is not null order by t.settled_at desc limit 1)) as n
      order by n.last_at desc nulls last limit 1);
  end if;
  return (
    select coalesce(
      memory._zone_or_null(t.metadata ->> 'time_zone'),
      -- The setting alone is read, because searches and contexts ask for the zone of each message that they show, and
      -- merging the whole policy was two thirds of the time.
      (select p.settings #>> '{messages,time_zone}' from memory.policies as p
       where memory._policy_applies(p.user_id, p.agent_id, a.user_id, m.agent_id)
         and p.settings #> '{messages,time_zone}' is not null
       order by p.user_id <> '' desc, p.agent_id <> '' desc limit 1),
      case when m.utc_offset between -960 and 960 then -- PostgreSQL takes the sign of such a zone the other way
        'UTC' || case when m.utc_offset > 0 then '-' else '+' end
          || to_char(make_time(abs(m.utc_offset) / 60, abs(m.utc_offset) % 60, 0), 'HH24:MI') end,
      'UTC')
    from (select p_user_id, p_thread_id offset 0) as a (user_id, thread_id)
    left join memory.threads as t on t.user_id = a.user_id and t.thread_id = a.thread_id
    left join lateral (
      select f.agent_id, f.utc_offset
      from unnest(array[p_seq, t.next_seq - 1]) with ordinality as s (seq, place)
      cross join lateral (
        select f.agent_id, f.utc_offset from memory.messages as f
        where f.user_id = a.user_id and f.thread_id = t.thread_id and f.seq = s.seq
        offset 0 -- so that each is looked up by its key
      ) as f
      order by s.place limit 1) as m on true);
end;
$$;

-- The name of a time zone, or null if a text is no such name. A name has digits only in the form "Etc/GMT+5": other
-- texts with digits, such as "UTC+2", PostgreSQL would read with the opposite sign. The view pg_timezone_names reads a
-- thousand files, which is too slow for each message.
create or replace function memory._zone_or_null(p_name text)
returns text
language plpgsql stable parallel unsafe strict
as $$
begin
  return case when p_name ~ '^([A-Za-z_]+([/-][A-Za-z_]+)*|Etc/GMT[+-][0-9]{1,2})$'
    and statement_timestamp() at time zone p_name is not null then p_name end;
exception
  when invalid_parameter_value then
    return null;
end;
$$;

-- The minutes east of UTC that a time as text names after the time of the day, as in "2026-11-02T21:00:00-06:00"; null
-- if it names none, or "Z".
create or replace function memory._utc_offset(p_time text)
returns smallint
language sql stable parallel safe
begin atomic
  select (extract(epoch from (o[1] || ':' || coalesce(o[2], '00'))::interval) / 60)::smallint
  from regexp_match(p_time, '[T ][0-9:.]+ ?([+-][0-9]{2}):?([0-9]{2})?$') as o;
end;
