-- The languages by whose dictionaries words are parsed. Policy search.language sets one for everyone, an agent or a
-- user, and can be changed at any time. Until a job has parsed a user's texts anew, watermarks of kind language name
-- the former languages of these texts, and a query is parsed by all of them. Watermarks of kind spoken name the
-- languages that the user writes.

-- The language by which texts of a user and agent are parsed.
create or replace function memory._language(p_user_id text, p_agent_id text)
returns regconfig
language plpgsql stable parallel safe
as $$
begin
  return (memory._policy_section(p_user_id, p_agent_id, 'search') ->> 'language')::regconfig;
end;
$$;

-- The languages of the texts that a search of this user and agent (null: all agents) may find. p_language, the language
-- of the policy that applies, comes first. Documents are parsed by the policy of the user, other texts by the policy of
-- their agent. One or two words do not show the language of a query (p_query), so for such a query the languages that
-- the user writes count too. They do not count for a longer query, because in its ranking each form of a word that the
-- texts lack would weigh as much as a word.
create or replace function memory._languages(
  p_user_id text, p_agent_id text, p_language text, p_query text default null
)
returns regconfig[]
language plpgsql stable parallel safe
as $$
declare
  layers memory.policies[];
  of_user text;
begin
  if not (exists (select from memory.policies as p
                  where p.user_id in ('', p_user_id) and p.settings -> 'search' ? 'language')
          or exists (select from memory.marks as k
                     where k.user_id = p_user_id and k.kind in ('language', 'spoken'))) then
    return array[p_language::regconfig]; -- one statement answers nearly every call
  end if;
  layers := array(
    select p from memory.policies as p where p.user_id in ('', p_user_id) and p.settings -> 'search' ? 'language');
  of_user := (select l.settings #>> '{search,language}' from unnest(layers) as l
              where l.agent_id = '' and l.user_id = p_user_id);
  return p_language::regconfig || array(
    select substr(k.scope, length('language:') + 1)::regconfig
    from memory.marks as k
    where k.user_id = p_user_id
      and (k.kind = 'language' or k.kind = 'spoken' and p_query !~ e'\\S\\s+\\S+\\s+\\S')
    union
    select coalesce(of_user, max(l.settings #>> '{search,language}') filter (where l.agent_id = ''),
      memory._default_policy() #>> '{search,language}')::regconfig
    from unnest(layers) as l
    union
    select (l.settings #>> '{search,language}')::regconfig from unnest(layers) as l
    where p_agent_id is null and l.agent_id <> '' and (of_user is null or l.user_id <> '')
    except
    select p_language::regconfig);
end;
$$;

-- Notes the language in which a user writes, if it is not the policy's language. p_said is a part of the texts that a
-- job has just parsed. The mark says 'simple' for a language without a dictionary, such as Chinese. If another
-- transaction is inserting the same mark, the function leaves the work to that transaction, so that nobody waits.
create or replace function memory._note_language(p_user_id text, p_language regconfig, p_said text)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  spoken regconfig := memory._language_of(p_said, p_language, to_tsvector(p_language, p_said));
begin
  if octet_length(p_said) > 1.5 * length(p_said) and spoken = p_language then -- messages begin with an English date
    spoken := 'simple';
  end if;
  if spoken <> p_language then
    insert into memory.marks (user_id, scope, kind, position)
    select p_user_id, 'language:' || spoken, 'spoken', 0
    where not exists (select from memory.marks as k
                      where k.user_id = p_user_id and k.scope = 'language:' || spoken and k.kind = 'spoken')
      and pg_try_advisory_xact_lock(hashtext('memory.marks'), hashtext(p_user_id || ' ' || spoken) & 1023)
    on conflict do nothing;
  end if;
end;
$$;

-- Has jobs parse the texts of a user, or of everyone, anew after search.language was changed. p_former: the languages
-- before the change.
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
     {{each table with listed:
     union select t.user_id from memory.<table> as t where p_user_id is null and t.user_id <> ''}}
    )
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
