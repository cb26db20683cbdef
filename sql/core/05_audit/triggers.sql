create trigger audit_100_before_change
before update or delete on memory.audit
for each row
execute function memory._audit_before_change();

create trigger audit_110_before_truncate
before truncate on memory.audit
for each statement
execute function memory._audit_before_change();
