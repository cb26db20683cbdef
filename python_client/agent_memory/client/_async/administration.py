"""The methods for policies, regular work and the state of the installation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...types import Check
from ..statements import records
from .masked_caller import AsyncMaskedCaller


class AsyncAdministration(AsyncMaskedCaller):
    """The methods for policies, regular work and the state of the installation."""

    async def set_policy(
        self, settings: Mapping[str, Any], agent_id: str | None = None, user_id: str | None = None
    ) -> dict[str, Any]:
        """Merge settings into a policy (global, per agent, per user) and return it. A null returns to the default.

        The configuration file of an agent (agent_id, resources, resource_config ...) is accepted, whole or in part.
        """
        return await self._value(dict, "set_policy", {"settings": settings}, agent_id=agent_id, user_id=user_id)

    async def get_policy(self, agent_id: str | None = None, user_id: str | None = None) -> dict[str, Any]:
        """Return the settings that apply: agent of the user over user over agent over global over built-in."""
        return await self._value(dict, "get_policy", {}, agent_id=agent_id, user_id=user_id)

    async def schedule_jobs(self, every: str | None = "10 seconds", sweep_at: str | None = "17 3 * * *") -> list[str]:
        """Let pg_cron run the jobs and the nightly sweep inside the database; return what was scheduled.

        ``every`` is an interval such as "10 seconds", ``sweep_at`` a time in the notation of cron.
        """
        rows = await self._select("schedule_jobs", {}, every=every, sweep_at=sweep_at)
        return [value for row in rows for value in row.values()]

    async def sweep(self, batch_size: int | None = 10000) -> dict[str, Any]:
        """Remove expired rows, queue due jobs and parse unread messages, up to ``batch_size`` of each.

        Return the counts by kind.
        """
        return await self._value(dict, "sweep", {}, batch_size=batch_size)

    async def bind_role(self, role_name: str, user_id: str) -> None:
        """Bind a login role to a user: its sessions reach this user only, and need no token.

        Raises ConflictError where the role is bound to another user.
        """
        await self._select("bind_role", {"role_name": role_name, "user_id": user_id})

    async def unbind_role(self, role_name: str) -> None:
        """End the binding of a role, which then reaches nobody until it is bound again or has a token."""
        await self._select("unbind_role", {"role_name": role_name})

    async def set_token_key(self, key: str, previous: str | None = None) -> None:
        """Set the key that tokens of tenants are signed with, 32 bytes or more in base64.

        Args:
            key: the key from now on.
            previous: a key whose tokens are accepted as well; without one they count no more.
        """
        await self._select("set_token_key", {"key": key}, previous=previous)

    async def tenant_user(self) -> str | None:
        """Return the only user that this session reaches, None where it may reach all.

        Raises PermissionDeniedError in a tenant's session without a valid token.
        """
        [row] = await self._select("tenant_user", {})
        user_id: str | None = row["tenant_user"]
        return user_id

    async def version(self) -> str:
        """Return the version installed in the database."""
        return await self._value(str, "version", {})

    async def doctor(self) -> list[Check]:
        """Check the installation, with the keys of secrets in this process's environment if the server has none."""
        return records(Check, await self._masked_rows("doctor", {}, needs_keys=False))

    async def status(self) -> dict[str, Any]:
        """Return how the installation goes: versions, models, queue, workers, what is embedded, and problems.

        Each of ``problems`` has a name, is_broken (False where answers are only degraded), a detail and the help.
        """
        return await self._value(dict, "status", {})
