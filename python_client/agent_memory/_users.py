"""The users that something is stored about, for the command line and the page."""

from __future__ import annotations

# Users in the order in which they were last heard of. The two lists of distinct users are read from indexes alone.
USERS = """
with threads as (
  select user_id, count(*) as thread_count, sum(message_count)::bigint as message_count, max(last_at) as last_at
  from memory.threads group by user_id
), memories as (
  select user_id, count(*) as memory_count from memory.memories
  where superseded_at is null and deleted_at is null and (expires_at is null or expires_at > now()) group by user_id
), others as (
  select user_id from memory.documents union select user_id from memory.artifacts
)
select user_id, coalesce(thread_count, 0) as thread_count, coalesce(message_count, 0) as message_count,
  coalesce(memory_count, 0) as memory_count, last_at, count(*) over () as total_count
from threads full join memories using (user_id) full join others using (user_id)
where strpos(lower(user_id), lower(%(search)s)) > 0 or %(search)s = ''
order by last_at desc nulls last, user_id
limit %(limit)s offset %(offset)s
"""
