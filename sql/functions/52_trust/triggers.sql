create trigger policies_200_after_update
after update on memory.policies
for each row
when (old.settings #>> '{trust,rules}' = 'false' and new.settings #>> '{trust,rules}' is distinct from 'false')
execute function memory._policy_after_update();
