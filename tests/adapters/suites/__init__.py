"""The frameworks' own tests of their stores and sessions, run against the adapters; see ``__main__``."""
