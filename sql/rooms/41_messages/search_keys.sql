-- The hashes by which messages_search_keys_idx finds the messages of one user among those of all. Two different words
-- may have the same hash, so a reader of the index compares the rows, too.

create or replace function memory._word_key(p_user_id text, p_word text)
returns int
language sql immutable parallel safe
begin atomic
  select hashtext(p_user_id || chr(1) || p_word);
end;

-- The keys of the plain values of an object, and of an agent unless that is null. Every object that contains the object
-- has these keys, too. Equal numbers have one hash, however they are written.
create or replace function memory._value_keys(p_user_id text, p_object jsonb, p_agent_id text)
returns setof int
language sql immutable parallel safe
begin atomic
  select hashtext(p_user_id || chr(2) || v.key || chr(2) || jsonb_hash(v.value))
  from jsonb_each(p_object) as v
  where jsonb_typeof(v.value) not in ('object', 'array')
  union all
  select hashtext(p_user_id || chr(3) || p_agent_id) where p_agent_id is not null;
end;

-- All keys of a message. The planner inlines this function into "array(select k from memory._search_keys(...) as k)":
-- a function that returned the array would be a call with a statement of its own for each message.
create or replace function memory._search_keys(
  p_user_id text, p_agent_id text, p_search_vector tsvector, p_metadata jsonb
)
returns setof int
language sql immutable parallel safe
begin atomic
  select memory._word_key(p_user_id, w.word) from unnest(tsvector_to_array(p_search_vector)) as w (word)
  union all
  select k.key from memory._value_keys(p_user_id, p_metadata, p_agent_id) as k (key);
end;
