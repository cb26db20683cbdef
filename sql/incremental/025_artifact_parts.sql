-- Contents of artifacts in parts. A row holds at most some tens of kB: one slice, line or passage of 200 MB is read
-- without the rest, and the words of a part fit into one tsvector.
create table memory.artifact_parts (
  user_id text not null,
  content_id uuid not null,
  first_byte int not null,
  first_line int not null,
  content text not null,
  search_vector tsvector,
  primary key (user_id, content_id, first_byte)
);
create index artifact_parts_lines_idx on memory.artifact_parts (user_id, content_id, first_line, first_byte);
create index artifact_parts_unparsed_idx on memory.artifact_parts (user_id, content_id, first_byte) where search_vector is null;
comment on table memory.artifact_parts is 'The contents of artifacts. A part ends with a line where it can, else with a word, else between two characters.';
comment on column memory.artifact_parts.content_id is 'That of the artifact, or of an upload that no artifact names yet.';
comment on column memory.artifact_parts.first_byte is 'How many bytes of UTF-8 of the content come before this part.';
comment on column memory.artifact_parts.first_line is 'How many line breaks come before this part.';
comment on column memory.artifact_parts.search_vector is 'The words, in the first part also those of key and description. Null until a job or memory.sweep() has parsed the part.';

create table memory.artifact_uploads (
  user_id text not null,
  upload_id uuid not null,
  updated_at timestamptz not null default statement_timestamp(),
  primary key (user_id, upload_id)
);
create index artifact_uploads_updated_at_idx on memory.artifact_uploads (updated_at);
comment on table memory.artifact_uploads is 'Contents that are being sent in pieces and that no artifact names yet. A day after its last piece an upload is swept.';
comment on column memory.artifact_uploads.upload_id is 'The content_id of its parts.';

alter table memory.artifacts add column content_id uuid;
comment on column memory.artifacts.content_id is 'Names the parts of the content.';

-- The contents that are there already, cut as memory._append_content() cuts: the first 48 KiB into parts of at most
-- 3 KiB, the rest into parts of at most 32 KiB. The words of a content that becomes one part are kept.
do $parts$
declare
  artifact record;
  id uuid;
  bytes bytea;
  size int;
  starts int;
  ends int;
  lines int;
  piece text;
  back int;
begin
  alter table memory.artifacts disable trigger user;
  for artifact in select a.user_id, a.key from memory.artifacts as a loop
    select convert_to(a.content, 'UTF8') into bytes
    from memory.artifacts as a where a.user_id = artifact.user_id and a.key = artifact.key;
    id := gen_random_uuid();
    size := octet_length(bytes);
    starts := 0;
    lines := 0;
    while starts < size loop
      ends := least(starts + case when starts < 49152 then 3072 else 32768 end, size);
      while ends < size and get_byte(bytes, ends) & 192 = 128 loop -- the inner bytes of a character
        ends := ends - 1;
      end loop;
      piece := convert_from(substring(bytes from starts + 1 for ends - starts), 'UTF8');
      if ends < size then
        back := coalesce(nullif(strpos(reverse(piece), e'\n'), 0), nullif(strpos(reverse(piece), ' '), 0), 1) - 1;
        if back > 0 then
          piece := left(piece, -back);
        end if;
      end if;
      insert into memory.artifact_parts (user_id, content_id, first_byte, first_line, content)
      values (artifact.user_id, id, starts, lines, piece);
      starts := starts + octet_length(convert_to(piece, 'UTF8'));
      lines := lines + octet_length(piece) - octet_length(replace(piece, e'\n', ''));
    end loop;
    update memory.artifacts as a set content_id = id where a.user_id = artifact.user_id and a.key = artifact.key;
  end loop;
  update memory.artifact_parts as p
  set search_vector = a.search_vector
  from memory.artifacts as a
  where p.user_id = a.user_id and p.content_id = a.content_id and a.content = p.content;
  -- Embeddings have the id of their part from now on.
  update memory.embeddings as e
  set id = e.id || '/0'
  from memory.artifacts as a
  where e.source = 'artifact' and a.user_id = e.user_id and a.key = e.id and exists (
    select from memory.artifact_parts as p
    where p.user_id = a.user_id and p.content_id = a.content_id and p.content = a.content);
  delete from memory.embeddings as e
  where e.source = 'artifact' and exists (
    select from memory.artifacts as a where a.user_id = e.user_id and a.key = e.id);
  alter table memory.artifacts alter column content drop not null;
  update memory.artifacts set content = null;
  alter table memory.artifacts enable trigger user;
end;
$parts$;

alter table memory.artifacts drop column search_vector;
alter table memory.artifacts alter column content_id set not null;
create unique index artifacts_content_idx on memory.artifacts (user_id, content_id);
comment on column memory.artifacts.content is 'Only written: a content that is inserted or updated here is moved to memory.artifact_parts within the statement. Read it with memory.retrieve_artifact().';
