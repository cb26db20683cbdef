-- The trust of a text, from 0 to 1, by its source:
--   1.0  the user or the application said the text (source user, and source names of the application's own)
--   0.8  an assistant said the text, or a model drew it from messages that are deleted
--   0.7  the text was imported
--   0.4  a tool returned the text
--   0.3  the text comes from a web page or an email

-- The trust of a source.
create or replace function memory._source_trust(p_source text)
returns double precision
language sql immutable parallel safe
begin atomic
  select case
    when p_source = 'user' then 1.0
    when p_source in ('assistant', 'extraction', 'thread_summary') then 0.8
    when p_source ~* '^import' then 0.7
    when p_source ~* '^(?:tool|mcp|function)' then 0.4
    when p_source ~* '^(?:web|email|scrap|crawl|untrusted|rss)' then 0.3
    else 1.0
  end;
end;

-- The trust that metadata claims; null when it claims none. The writer of metadata may only lower trust.
create or replace function memory._lowered(p_metadata jsonb)
returns double precision
language sql immutable parallel safe
begin atomic
  select case
    when p_metadata ? 'trust' and p_metadata -> 'trust' between jsonb '0' and jsonb '1'
      then (p_metadata ->> 'trust')::double precision
  end;
end;

-- The trust of a message, by its role. metadata.trust can lower the trust, for example of an email that an application
-- stores under the role user. No column stores this trust, because the column would make every message larger, and the
-- role of a message does not change.
create or replace function memory._message_trust(p_role text, p_metadata jsonb)
returns double precision
language sql immutable parallel safe
begin atomic
  select least(memory._source_trust(p_role), memory._lowered(p_metadata));
end;

-- Whether a trust is low, as that of tools, web pages and emails. Such a text never changes what people have said.
create or replace function memory._is_low(p_trust double precision)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_trust < 0.5;
end;
