-- PostgreSQL reads and plans the check constraints of a table anew in each statement: these six took a tenth of the
-- instructions of add_memory (PostgreSQL 15). The trigger memory_100_before_write applies the same rules, and says
-- which argument breaks one. Rows that are copied from another database come from one where it did.
alter table memory.memories
  drop constraint metadata_is_object,
  drop constraint confidence_is_share,
  drop constraint importance_is_share,
  drop constraint validity_is_ordered,
  drop constraint operation_is_known,
  drop constraint quarantine_is_whole;
