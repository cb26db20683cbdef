create or replace function memory.claim_jobs(
  worker text, kinds text[] default null, max_jobs int default 1, lease interval default '5 minutes'
)
returns setof memory.claimed_job
language plpgsql volatile parallel unsafe security definer -- workers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  known constant text[] := array['extract_memories', 'summarize_thread', 'compress_thread', 'summarize_user', 'reconcile_memories', 'consolidate', 'embed',
    'backfill', 'chunk_documents'];
  -- Not the statement's time: a runner that claims again and again within one CALL would never see what became due since.
  moment constant timestamptz := clock_timestamp();
  -- A job that is prepared when statement_timeout strikes has then had half of that time for itself.
  deadline constant timestamptz := least(moment + interval '2 seconds',
    statement_timestamp() + nullif(current_setting('statement_timeout')::interval, '0') / 2);
  wanted constant text[] := array(select k from unnest(known) as k where kinds is null or k = any (kinds));
  turn constant regclass := 'memory.turn_of_'
    || case cardinality(wanted) when cardinality(known) then 'all' when 1 then wanted[1] else 'some' end;
  claimed memory.jobs;
  handed record;
  first_place bigint;
  place bigint;
  is_first_lap boolean := true;
  has_wrapped boolean := false;
  is_held boolean := false;
  stops bigint[] := array[]::bigint[];
  stop int := 1;
  next_stops bigint[] := array[]::bigint[];
  visit jsonb;
  -- By place: the index entry of a job taken is there until the end, and would be read again in each lap.
  visits jsonb := jsonb '{}';
  handed_out int := 0;
  handed_out_before int := 0; -- this lap
begin
  perform memory._check_id('worker', worker);
  perform memory._check_list('kinds', kinds); -- before the comparison, which nothing can interrupt
  if (kinds <@ known) is false then
    perform memory._refuse('kinds', format('%s is not a choice of kinds', kinds),
      'Known kinds: ' || array_to_string(known, ', ') || '; leave it out for all.');
  end if;
  if (max_jobs between 1 and 1000) is not true then
    perform memory._refuse('max_jobs', format('%s is not between 1 and 1000', coalesce(max_jobs::text, 'null')), 'Claim what you can work on at once.');
  end if;
  if (lease > '0') is not true then
    perform memory._refuse('lease', 'must be a positive interval', 'It should outlast one model call; memory.extend_job() prolongs it.');
  end if;

  -- Workers that died: their jobs go back to the queue, or to the dead ones when this was the last attempt. What they
  -- called may have been paid for, so the ledger shows it.
  for claimed in
    update memory.jobs as j
    set status = case when j.attempts < j.max_attempts then 'pending' else 'dead' end,
        finished_at = case when j.attempts < j.max_attempts then null else moment end,
        error = format('the lease of worker "%s" ran out in attempt %s', j.worker, j.attempts),
        tokens_reserved = 0, lease_token = null, lease_expires_at = null
    from (select e.user_id, e.job_id from memory.jobs as e
          where e.status = 'running' and e.lease_expires_at <= moment
          order by e.lease_expires_at limit 100 for update skip locked) as expired
    where j.user_id = expired.user_id and j.job_id = expired.job_id
    returning j.*
  loop
    perform memory._enter_calls(claimed, jsonb_build_array(jsonb_build_object('error', claimed.error)));
    perform memory._after_failure(claimed);
  end loop;

  -- What has waited long enough. Not all at once: at midnight (UTC) all that waited for a budget is due.
  update memory.jobs as j set is_delayed = false
  from (select d.user_id, d.job_id from memory.jobs as d
        where d.status = 'pending' and d.is_delayed and d.run_after <= moment
        order by d.run_after, d.job_id limit 1000 for update skip locked) as due
  where j.user_id = due.user_id and j.job_id = due.job_id;

  -- Round and round, a job of each user at a time, until there are enough or none is left: a worker may take an empty
  -- answer for an empty queue, so jobs that turn out to have nothing to do do not count. The first lap finds who is
  -- there, from the user after the one who had the last turn; the others go where the lap before found a job.
  first_place := coalesce(pg_sequence_last_value(turn), 0);
  place := first_place;
  loop
    if is_first_lap then
      place := memory._next_place(wanted, place, moment);
      if place is null and not has_wrapped then
        has_wrapped := true;
        place := -4611686018427387905; -- before the first
        continue;
      elsif place is null or has_wrapped and place > first_place then
        is_first_lap := false;
        continue;
      end if;
    elsif stop > cardinality(stops) then
      if cardinality(next_stops) = 0 then
        exit when not is_held or handed_out > 0 or clock_timestamp() > moment + interval '100 milliseconds';
        -- Another claim has the only user there is, for a moment as a rule. That is no empty queue.
        perform pg_sleep(0.01);
        is_held := false;
        is_first_lap := true;
        has_wrapped := false;
        place := first_place;
        continue;
      end if;
      -- what there is waits no longer for what may be nothing
      exit when handed_out > 0 and handed_out = handed_out_before;
      handed_out_before := handed_out;
      stops := next_stops;
      next_stops := array[]::bigint[];
      stop := 1;
      continue;
    else
      place := stops[stop];
      stop := stop + 1;
    end if;
    visit := memory._take_turn(wanted, place, moment, claim_jobs.worker, lease, visits -> place::text);
    is_held := is_held or coalesce(visit -> 'room' = 'null', false);
    if (visit ->> 'is_taken')::boolean then
      select j.* into claimed from memory.jobs as j
      where j.user_id = visit ->> 'user_id' and j.job_id = (visit ->> 'job_id')::bigint;
      next_stops := next_stops || place;
      perform setval(turn, place); -- before anything can go wrong with this job
      handed := memory._hand_out(claimed);
      if handed.payload is not null then
        handed_out := handed_out + 1;
        visit := visit || jsonb_build_object('room', (visit ->> 'room')::int - 1);
        return next row(claimed.job_id, claimed.kind, claimed.user_id, claimed.lease_token, claimed.attempts,
                        handed.payload)::memory.claimed_job;
      elsif handed.goes_on then
        visit := visit - '{run_after,job_id}'::text[];
      end if;
      visits := visits || jsonb_build_object(place, visit);
    end if;
    -- Thousands of jobs with nothing to do, as after a long outage, are worked off by several claims.
    exit when handed_out = max_jobs or clock_timestamp() > deadline;
  end loop;
end;
$$;
comment on function memory.claim_jobs(text, text[], int, interval) is
'Hands up to max_jobs due jobs to a worker, with all the input a model needs. Commit before calling the model; then complete_job, fail_job or release_job with the lease_token. A job whose lease runs out is handed out again; one whose budget is spent waits for the next day. See docs/jobs.md for payloads and results.';

-- The next place after this one where a user has something due of these kinds. A few index entries are read, however
-- many users and jobs there are.
create or replace function memory._next_place(p_kinds text[], p_place bigint, p_moment timestamptz)
returns bigint
language plpgsql stable parallel safe
set enable_seqscan = off -- a session keeps its first plan, and that of an empty queue would read all jobs and sort them
set enable_bitmapscan = off
set enable_sort = off
set jit = off -- a plan with what is forbidden counts as so dear that it would be compiled
as $$
begin
  return min(n.place) from unnest(p_kinds) as k (kind)
  cross join lateral (
    select hashtextextended(j.user_id, 0) / 2 as place from memory.jobs as j
    where j.kind = k.kind and j.status = 'pending' and not j.is_delayed
      and hashtextextended(j.user_id, 0) / 2 > p_place and j.run_after <= p_moment
    order by 1 limit 1) as n;
end;
$$;

-- Claims the first due job at a place, after those that this claim has taken there: visit says who has the place, how
-- many jobs more that user may have, and which job was the last. is_taken is false when there is none, or when its
-- user may have no more now. Two users in one place, one chance in 10^9 among 100,000, would share their turns.
create or replace function memory._take_turn(
  p_kinds text[], p_place bigint, p_moment timestamptz, p_worker text, p_lease interval, p_visit jsonb
)
returns jsonb
language plpgsql volatile parallel unsafe
set enable_seqscan = off -- as in memory._next_place()
set enable_bitmapscan = off
set jit = off
as $$
declare
  last_run_after timestamptz := coalesce((p_visit ->> 'run_after')::timestamptz, '-infinity');
  last_job_id bigint := coalesce((p_visit ->> 'job_id')::bigint, 0);
  candidate record;
  status text;
begin
  loop
    select n.* into candidate from unnest(p_kinds) as k (kind)
    cross join lateral (
      select j.user_id, j.job_id, j.run_after from memory.jobs as j
      where j.kind = k.kind and j.status = 'pending' and not j.is_delayed
        and hashtextextended(j.user_id, 0) / 2 = p_place
        and j.run_after <= p_moment and (j.run_after, j.job_id) > (last_run_after, last_job_id)
      order by j.run_after, j.job_id limit 1) as n
    order by n.run_after, n.job_id limit 1;
    exit when not found;
    if p_visit ->> 'user_id' is distinct from candidate.user_id then
      p_visit := jsonb_build_object('user_id', candidate.user_id, 'room', memory._room(candidate.user_id));
    end if;
    exit when ((p_visit ->> 'room')::int > 0) is not true;
    last_run_after := candidate.run_after;
    last_job_id := candidate.job_id;
    -- Found by its key alone: with the status the planner may take an index of all that is pending.
    select j.status into status from memory.jobs as j
    where j.user_id = candidate.user_id and j.job_id = candidate.job_id for update skip locked;
    if status = 'pending' then -- else somebody holds that one, or has just changed it
      update memory.jobs as j
      set status = 'running', attempts = j.attempts + 1, worker = p_worker,
          -- The input is read anew, so what was asked during an earlier attempt is part of this one.
          request = case when j.next_request is null then j.request
                         else memory._wider_request(j.request, j.next_request) end,
          next_request = null, lease_token = gen_random_uuid(), lease_expires_at = p_moment + p_lease
      where j.user_id = candidate.user_id and j.job_id = candidate.job_id;
      return p_visit || jsonb_build_object('run_after', last_run_after, 'job_id', last_job_id, 'is_taken', true);
    end if;
  end loop;
  return p_visit || '{"is_taken": false}';
end;
$$;

-- How many running jobs more a user may have; null while another claim has the user, because claims of one user
-- exclude each other from here to the end of the transaction. The row is written, so that under repeatable read a
-- claim that does not see what another has taken begins again (40001); once in a claim, because its versions stay
-- until the end.
create or replace function memory._room(p_user_id text)
returns int
language plpgsql volatile parallel unsafe
as $$
declare
  room int;
begin
  perform from memory.marks as k
  where k.user_id = p_user_id and k.scope = '' and k.kind = 'claims' for no key update skip locked;
  if not found and not memory._insert_claims_mark(p_user_id) then
    return null;
  end if;
  select (memory._policy_section(p_user_id, null, 'jobs') ->> 'max_running_per_user')::int - count(*) into room
  from memory.jobs as j where j.user_id = p_user_id and j.status = 'running';
  if room > 0 then
    update memory.marks as k set position = k.position + 1
    where k.user_id = p_user_id and k.scope = '' and k.kind = 'claims';
  end if;
  return room;
end;
$$;

-- False when another claim has the user.
create or replace function memory._insert_claims_mark(p_user_id text)
returns boolean
language plpgsql volatile parallel unsafe
set lock_timeout = '10ms'
as $$
begin
  insert into memory.marks (user_id, scope, kind, position) values (p_user_id, '', 'claims', 0)
  on conflict do nothing;
  return found;
exception
  when lock_not_available then
    return false;
end;
$$;
