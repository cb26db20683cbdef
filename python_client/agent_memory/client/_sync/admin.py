# Generated from _async/admin.py by generate_sync.py; do not edit.
"""The functions of administrators, as methods of ``memory.admin``."""

from __future__ import annotations

import os
from typing import TextIO

from ..user_files import opened, parts_of
from .admin_functions import SyncAdminFunctions


class Admin(SyncAdminFunctions):
    """Policies, models, prompts, users, roles, keys, and the state of the installation."""

    def import_user_from(
        self, user_id: str, file: str | os.PathLike[str] | TextIO, lift_tombstones: bool | None = False
    ) -> dict[str, int]:
        """Store what ``export_user_to`` has written, or a file with what ``export_user`` returned; all or nothing.

        Return the counts, and raise the errors of ``import_user``.
        """
        with opened(file) as content:
            parts = parts_of(content)
            part = next(parts)
            with (self.caller.of(user_id, is_fresh=True)).in_a_transaction("read committed") as caller:
                bound = Admin(caller)
                for following in parts:
                    bound.import_user(user_id, part, lift_tombstones, is_last=False)
                    part = following
                return bound.import_user(user_id, part, lift_tombstones)
