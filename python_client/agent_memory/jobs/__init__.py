"""One claimed job, and the due jobs that a process does itself; worker/ claims jobs of everybody.

- job.py: one job, from the call of its model to the hand-in; persistence.py: calls to a database that is out of reach.
- due_jobs.py: claims due jobs of one user, does them, and waits for them.
- background.py: the thread that asks models.
"""
