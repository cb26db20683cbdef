"""The users that something is stored about, for the command line and the page."""

from __future__ import annotations

USERS = """
select * from memory.list_users(search => %(search)s, row_limit => %(limit)s, row_offset => %(offset)s)
"""
