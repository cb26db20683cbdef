-- The languages by whose dictionaries words are parsed: policy search.language, of everyone, an agent or a user, which
-- can be changed at any time. Until a job has parsed a user's texts anew, watermarks of kind language name the
-- languages by which they may still be parsed, and a query is parsed by all of them.

-- The language by which texts of a user and agent are parsed.
create or replace function memory._language(p_user_id text, p_agent_id text)
returns regconfig
language plpgsql stable parallel safe
as $$
begin
  return (memory._policy_section(p_user_id, p_agent_id, 'search') ->> 'language')::regconfig;
end;
$$;

-- The languages of the texts that a search of this user and agent (null: all) may find; p_language is that of the
-- policy that applies. Documents are parsed by the policy of the user, other texts by that of their agent.
create or replace function memory._languages(p_user_id text, p_agent_id text, p_language text)
returns regconfig[]
language plpgsql stable parallel safe
as $$
declare
  layers memory.policies[];
  of_user text;
begin
  if not (exists (select from memory.policies as p
                  where p.user_id in ('', p_user_id) and p.settings -> 'search' ? 'language')
          or exists (select from memory.marks as k where k.user_id = p_user_id and k.kind = 'language')) then
    return array[p_language::regconfig]; -- nearly always, by one statement
  end if;
  layers := array(
    select p from memory.policies as p where p.user_id in ('', p_user_id) and p.settings -> 'search' ? 'language');
  of_user := (select l.settings #>> '{search,language}' from unnest(layers) as l
              where l.agent_id = '' and l.user_id = p_user_id);
  return array(
    select p_language::regconfig
    union
    select substr(k.scope, length('language:') + 1)::regconfig
    from memory.marks as k where k.user_id = p_user_id and k.kind = 'language'
    union
    select coalesce(of_user, max(l.settings #>> '{search,language}') filter (where l.agent_id = ''),
      memory._default_policy() #>> '{search,language}')::regconfig
    from unnest(layers) as l
    union
    select (l.settings #>> '{search,language}')::regconfig from unnest(layers) as l
    where p_agent_id is null and l.agent_id <> '' and (of_user is null or l.user_id <> ''));
end;
$$;

-- Has the texts of a user, or of everyone, parsed anew by jobs after search.language was changed. p_former are the
-- former languages.
create or replace function memory._parse_anew_later(p_user_id text, p_former regconfig[])
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  insert into memory.marks as k (user_id, scope, kind, position)
  select u.user_id, 'language:' || f, 'language', (extract(epoch from clock_timestamp()) * 1000000)::bigint
  from (
    select p_user_id as user_id where p_user_id is not null
    union
    (select t.user_id from memory.threads as t where p_user_id is null
     union select s.user_id from memory.memory_scopes as s where p_user_id is null
     union select d.user_id from memory.documents as d where p_user_id is null
     union select a.user_id from memory.artifacts as a where p_user_id is null)
    except
    select p.user_id from memory.policies as p
    where p_user_id is null and p.agent_id = '' and p.user_id <> '' and p.settings -> 'search' ? 'language'
  ) as u
  cross join unnest(p_former) as f
  order by u.user_id, f::text
  on conflict on constraint marks_pkey do update set position = excluded.position;
  if p_user_id is null then
    perform memory._enqueue_for_everyone('parse_artifacts');
  else
    perform memory._enqueue(p_user_id, 'parse_artifacts', '');
  end if;
end;
$$;
