-- A query with its synonyms: for each abbreviation the full word, and for each full word its abbreviation. People write
-- either, but dictionaries and models of meaning take the two for different words. A query with a date in another
-- language ("im Mai", "5月7日") also gets the date in English, because the words of each message contain its date in
-- English.
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
  months constant jsonb := jsonb {{list month_names}};
  names constant text[] := string_to_array(
    'january february march april may june july august september october november december', ' ');
  numerals constant text[] := string_to_array('一 二 三 四 五 六 七 八 九 十 十一 十二', ' ');
begin
  return concat_ws(' ', p_query, (
    select string_agg(coalesce(same ->> v.lexeme, names[(months ->> v.lexeme)::int]), ' ')
    from unnest(to_tsvector('simple', p_query)) as v where same ? v.lexeme or months ? v.lexeme), (
    select string_agg(names[(months ->> ('in ' || m[1]))::int], ' ')
    from regexp_matches(lower(p_query), e'(?:\\m(?:im|en|em|in|de|в)|[0-9]\\.?) (\\w+)', 'g') as m),
    case when octet_length(p_query) > length(p_query) then concat_ws(' ', (
      select string_agg(concat_ws(' ', names[coalesce(array_position(numerals, d[1]), d[1]::int)], d[2]), ' ')
      from regexp_matches(p_query, '(1?[0-9]|十?[一二]|[三四五六七八九十]) ?月 ?(?:([0-9]{1,2}) ?[日号號])?', 'g') as d), (
      select string_agg(y[1], ' ') from regexp_matches(p_query, '((?:19|20)[0-9]{2}) ?年', 'g') as y)) end);
end;
$$;
