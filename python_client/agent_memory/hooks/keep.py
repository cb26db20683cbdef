"""Keeps an embedded store running while hooks come and go, and does its jobs: ``python -m agent_memory.hooks.keep``.

A hook starts this if nobody else uses the store. Otherwise each hook would start and stop the server, and texts of a
session would get no embeddings. If a session goes on for longer, its next hook starts this anew.
"""

from __future__ import annotations

import os
import sys
import time

from ..embedded import open_store

SECONDS = 1800.0


def main(store: str, lock: int) -> None:
    """Use a store for half an hour."""
    with open_store(store, worker=True):
        os.close(lock)
        time.sleep(SECONDS)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
