-- The descriptions of artifacts that messages became are made by rule at once, and improved by a model later.
alter table memory.artifacts add column awaits_description boolean not null default false;
create index artifacts_undescribed_idx on memory.artifacts (user_id, created_at, key) where awaits_description;
comment on column memory.artifacts.awaits_description is 'Whether a job of kind describe_artifact is to improve the description.';
