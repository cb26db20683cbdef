"""The functions of administrators, as methods of ``memory.admin``."""

from __future__ import annotations

import os
from typing import TextIO

from ..user_files import opened, parts_of
from .admin_functions import AsyncAdminFunctions


class AsyncAdmin(AsyncAdminFunctions):
    """Policies, models, prompts, users, roles, keys, and the state of the installation."""

    async def import_user_from(
        self, user_id: str, file: str | os.PathLike[str] | TextIO, lift_tombstones: bool | None = False
    ) -> dict[str, int]:
        """Store what ``export_user_to`` has written, or a file with what ``export_user`` returned; all or nothing.

        Return the counts, and raise the errors of ``import_user``.
        """
        with opened(file) as content:
            parts = parts_of(content)
            part = next(parts)
            async with (await self.caller.of(user_id, is_fresh=True)).in_a_transaction("read committed") as caller:
                bound = AsyncAdmin(caller)
                for following in parts:
                    await bound.import_user(user_id, part, lift_tombstones, is_last=False)
                    part = following
                return await bound.import_user(user_id, part, lift_tombstones)
