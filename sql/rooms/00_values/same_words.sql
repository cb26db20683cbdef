-- A query with its synonyms: for each abbreviation the full word, and for each such word the abbreviation. People write
-- either, but dictionaries and models of meaning take the two for different words.
create or replace function memory._with_same_words(p_query text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  same constant jsonb := '{
    "addr": "address", "address": "addr", "admin": "administrator", "administrator": "admin", "app": "application",
    "application": "app", "appt": "appointment", "appointment": "appt", "apt": "apartment", "apartment": "apt",
    "arg": "argument", "argument": "arg", "auth": "authentication", "authentication": "auth", "bday": "birthday",
    "birthday": "bday", "bike": "bicycle", "bicycle": "bike", "config": "configuration", "configuration": "config",
    "db": "database", "database": "db", "dept": "department", "department": "dept", "dev": "development",
    "development": "dev", "dir": "directory", "directory": "dir", "docs": "documentation", "documentation": "docs",
    "env": "environment", "environment": "env", "exam": "examination", "examination": "exam", "fridge":
    "refrigerator", "refrigerator": "fridge", "img": "image", "image": "img", "info": "information", "information":
    "info", "js": "javascript", "javascript": "js", "k8s": "kubernetes", "kubernetes": "k8s", "lab": "laboratory",
    "laboratory": "lab", "lib": "library", "library": "lib", "math": "mathematics", "mathematics": "math", "max":
    "maximum", "maximum": "max", "min": "minimum", "minimum": "min", "msg": "message", "message": "msg", "num":
    "number", "number": "num", "param": "parameter", "parameter": "param", "perf": "performance", "performance":
    "perf", "phone": "telephone", "telephone": "phone", "photo": "photograph", "photograph": "photo", "pic":
    "picture", "picture": "pic", "pkg": "package", "package": "pkg", "postgres": "postgresql", "postgresql":
    "postgres", "prod": "production", "production": "prod", "pwd": "password", "password": "pwd", "qty": "quantity",
    "quantity": "qty", "repo": "repository", "repository": "repo", "spec": "specification", "specification": "spec",
    "tv": "television", "television": "tv", "uni": "university", "university": "uni", "var": "variable", "variable":
    "var", "vet": "veterinarian", "veterinarian": "vet"
  }'::jsonb;
begin
  return concat_ws(' ', p_query, (
    select string_agg(same ->> v.lexeme, ' ') from unnest(to_tsvector('simple', p_query)) as v where same ? v.lexeme));
end;
$$;
