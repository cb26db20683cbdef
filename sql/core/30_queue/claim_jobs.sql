create or replace function memory.claim_jobs(
  worker text, kinds text[] default null, max_jobs int default 1, lease interval default '5 minutes',
  user_id text default null
)
returns setof memory.claimed_job
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  known constant text[] := array[{{kinds}}];
  -- The clock and not the time of the statement, because a runner that claims several times within one CALL must see
  -- jobs that became due since the CALL began.
  moment constant timestamptz := clock_timestamp();
  -- After half of statement_timeout no further job is prepared, so that each job has the other half for itself.
  deadline constant timestamptz := least(moment + interval '2 seconds',
    statement_timestamp() + nullif(current_setting('statement_timeout')::interval, '0') / 2);
  wanted constant text[] := array(select k from unnest(known) as k where kinds is null or k = any (kinds));
  turn constant regclass := 'memory.turn_of_'
    || case cardinality(wanted) when cardinality(known) then 'all' when 1 then wanted[1] else 'some' end;
  claimed memory.jobs;
  handed record;
  first_place bigint;
  place bigint;
  is_first_lap boolean := claim_jobs.user_id is null;
  has_wrapped boolean := false;
  is_held boolean := false;
  stops bigint[] := array[]::bigint[];
  stop int := 1;
  -- The places to visit in the next lap. A claim for one user visits no other place, and takes no turn.
  home constant bigint[] := array_remove(array[hashtextextended(claim_jobs.user_id, 0) / 2], null);
  next_stops bigint[] := home;
  visit jsonb;
  -- The last visit to each place. The index keeps the entries of claimed jobs until this transaction ends; the visit
  -- says which of them to skip.
  visits jsonb := jsonb '{}';
  handed_out int := 0;
  handed_out_before int := 0; -- handed_out when this lap began
begin
  perform memory._check_id('worker', worker), memory._check_user_or_all(claim_jobs.user_id);
  perform memory._check_list('kinds', kinds); -- before the comparison, which cannot be interrupted
  if (kinds <@ known) is false then
    perform memory._refuse('kinds', format('%s is not a choice of kinds', kinds),
      'Known kinds: ' || array_to_string(known, ', ') || '; leave it out for all.');
  end if;
  if (max_jobs between 1 and 1000) is not true then
    perform memory._refuse('max_jobs', format('%s is not between 1 and 1000', coalesce(max_jobs::text, 'null')),
      'Claim as many jobs as you can work on at once.');
  end if;
  perform memory._check_lease(lease);

  -- Takes back the leases of workers that died. The model calls of such a worker may have been paid for, so the ledger
  -- gets one call per attempt. All statements here pass by jobs of a kind that this version lacks, because the table
  -- would refuse to change them.
  for claimed in
    select j.* from memory.jobs as j
    where j.status = 'running' and j.lease_expires_at <= moment and j.kind = any (known)
    order by j.lease_expires_at limit 100 for update skip locked
  loop
    perform memory._fail_attempt(claimed,
      format('the lease of worker "%s" ran out in attempt %s', claimed.worker, claimed.attempts));
  end loop;

  -- Makes jobs due whose run_after has passed, at most 1,000 per claim, because at midnight (UTC) all jobs that waited
  -- for a budget become due.
  update memory.jobs as j set is_delayed = false
  from (
    select d.user_id, d.job_id from memory.jobs as d
    where d.status = 'pending' and d.is_delayed and d.run_after <= moment and d.kind = any (known)
    order by d.run_after, d.job_id limit 1000 for update skip locked) as due
  where j.user_id = due.user_id and j.job_id = due.job_id;

  -- The loop makes laps. Each lap takes one job of each user, until max_jobs are handed out or no job is left. Jobs
  -- that turn out to have nothing to do do not count, because workers take an empty answer for an empty queue. The
  -- first lap finds the users, beginning after the user who had the last turn; each further lap visits the places where
  -- the lap before found a job.
  first_place := coalesce(pg_sequence_last_value(turn), 0);
  place := first_place;
  loop
    if is_first_lap then
      place := memory._next_place(wanted, place, moment);
      if place is null and not has_wrapped then
        has_wrapped := true;
        place := -4611686018427387905; -- before the first place
        continue;
      elsif place is null or has_wrapped and place > first_place then
        is_first_lap := false;
        continue;
      end if;
    elsif stop > cardinality(stops) then
      if cardinality(next_stops) = 0 then
        exit when not is_held or handed_out > 0 or clock_timestamp() > moment + interval '100 milliseconds';
        -- Another claim holds the only users who have jobs, usually for a moment. The queue is not empty.
        perform pg_sleep(0.01);
        is_held := false;
        is_first_lap := claim_jobs.user_id is null;
        next_stops := home;
        has_wrapped := false;
        place := first_place;
        continue;
      end if;
      -- Jobs that were handed out must not wait for further laps, so a lap that hands out nothing is the last one.
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
      -- The turn is noted before the job is prepared, so that it moves on even if preparing fails.
      perform setval(turn, place) where claim_jobs.user_id is null;
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
    -- Stops at the deadline: thousands of jobs may have nothing to do after an outage, and several claims work them
    -- off.
    exit when handed_out = max_jobs or clock_timestamp() > deadline;
  end loop;
  if handed_out = 0 and claim_jobs.user_id is null -- an idle worker has time for this
    and exists (select from memory.due_deletions as d where d.due_at <= moment) then
    perform memory._finish_deletions(1000);
  end if;
end;
$$;
comment on function memory.claim_jobs(text, text[], int, interval, text) is
'Hands up to max_jobs due jobs to a worker, each with all the input that a model needs. Commit before you call the '
'model; then call complete_job, fail_job or release_job with the lease_token. A job whose lease runs out is handed out '
'again. With user_id only jobs of that user are handed out.';

-- The next place after p_place where a user has a due job of these kinds. A user's place is half the hash of the
-- user_id. The function reads a few index entries, however many users and jobs there are.
create or replace function memory._next_place(p_kinds text[], p_place bigint, p_moment timestamptz)
returns bigint
language plpgsql stable parallel safe
set enable_sort = off
as $$
begin
  return min(n.place)
  from unnest(p_kinds) as k (kind)
  cross join lateral (
    select hashtextextended(j.user_id, 0) / 2 as place from memory.jobs as j
    where j.kind = k.kind and j.status = 'pending' and not j.is_delayed
      and hashtextextended(j.user_id, 0) / 2 > p_place and j.run_after <= p_moment
    order by 1 limit 1) as n;
end;
$$;

-- Claims the first due job at a place after the jobs that this claim has taken there. The function takes and returns
-- the visit to this place: user_id (the user at this place), room (how many more jobs the user may have), and run_after
-- and job_id of the last job. is_taken is false when no such job is left or the user may have no more. Two users with
-- the same hash, one chance in 10^9 among 100,000 users, share their turns.
create or replace function memory._take_turn(
  p_kinds text[], p_place bigint, p_moment timestamptz, p_worker text, p_lease interval, p_visit jsonb
)
returns jsonb
language plpgsql volatile parallel unsafe
set plan_cache_mode = force_generic_plan -- planning for each place took twenty times as long as reading its index entry
as $$
declare
  last_run_after timestamptz := coalesce((p_visit ->> 'run_after')::timestamptz, '-infinity');
  last_job_id bigint := coalesce((p_visit ->> 'job_id')::bigint, 0);
  candidate record;
  status text;
begin
  loop
    select n.* into candidate
    from unnest(p_kinds) as k (kind)
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
    -- The row is found by its key alone: with a condition on status the planner may read an index of all pending jobs.
    select j.status into status from memory.jobs as j
    where j.user_id = candidate.user_id and j.job_id = candidate.job_id for update skip locked;
    if status = 'pending' then -- otherwise somebody holds the job or has just changed it
      update memory.jobs as j
      set status = 'running', attempts = least(j.attempts, 1000000000) + 1, worker = p_worker,
          -- Each attempt reads its input anew, so requests that came during an earlier attempt belong to this one.
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

-- How many more running jobs a user may have; null while another claim holds the user's row of memory.marks. Claims of
-- one user exclude each other from this call to the end of the transaction. The function writes the row instead of only
-- locking it, so that under repeatable read a claim that cannot see the jobs of another claim fails with 40001. A claim
-- writes the row only once, because PostgreSQL keeps every version of the row until the transaction ends.
create or replace function memory._room(p_user_id text)
returns int
language plpgsql volatile parallel unsafe
as $$
declare
  is_written boolean := false;
  room int;
begin
  perform from memory.marks as k
  where k.user_id = p_user_id and k.scope = '' and k.kind = 'claims' for no key update skip locked;
  if not found then
    is_written := memory._insert_claims_mark(p_user_id);
    if not is_written then
      return null;
    end if;
  end if;
  select (memory._policy_section(p_user_id, null, 'jobs') ->> 'max_running_per_user')::int - count(*) into room
  from memory.jobs as j where j.user_id = p_user_id and j.status = 'running';
  if room > 0 and not is_written then
    update memory.marks as k set position = mod(k.position, 1000000000) + 1
    where k.user_id = p_user_id and k.scope = '' and k.kind = 'claims';
  end if;
  return room;
end;
$$;

-- Inserts and locks the row of memory.marks for a user's claims; false when another claim holds it.
create or replace function memory._insert_claims_mark(p_user_id text)
returns boolean
language plpgsql volatile parallel unsafe
set lock_timeout = '10ms'
as $$
begin
  -- An existing row is not waited for: the insert would wait for the transaction that holds the row, such as a
  -- forget_memory() that waits for a job of this claim. lock_timeout and the detection of deadlocks end such a wait too
  -- late if the clock is set back meanwhile.
  if exists (
    select from memory.marks as k where k.user_id = p_user_id and k.scope = '' and k.kind = 'claims'
  ) then
    return false;
  end if;
  insert into memory.marks (user_id, scope, kind, position) values (p_user_id, '', 'claims', 0)
  on conflict do nothing;
  if not found then
    return false;
  end if;
  -- Removes the row again if the user has no job: the insert may have waited for a transaction that forgot the user.
  delete from memory.marks as k
  where k.user_id = p_user_id and k.scope = '' and k.kind = 'claims'
    and not exists (select from memory.jobs as j where j.user_id = p_user_id);
  return not found;
exception
  when lock_not_available then
    return false;
end;
$$;
