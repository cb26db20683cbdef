"""The functions of administrators, as methods of ``memory.admin``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TextIO

from ...calls import AsyncMethods, AsyncRoutedCaller, sql_function
from ...choices import ModelKind, Provider, SpaceAccess
from ...jobs.background import call_in_loop
from ...types import Backfill, Check, UserRecord
from ..user_files import opened, parts_of
from ..user_moves import move_user_to


async def _bring_together(self: AsyncMethods, given: Mapping[str, Any]) -> None:
    """Move a user who is to be merged to the node of the other one, where these are two nodes of a cluster."""
    from_user, into_user = given["from_user_id"], given["into_user_id"]
    if not isinstance(from_user, str) or not isinstance(into_user, str):
        return
    source = await self.caller.of(from_user, is_fresh=True)
    if isinstance(source, AsyncRoutedCaller) and source is not await self.caller.of(into_user):
        await call_in_loop(move_user_to, await source.place(), from_user, into_user)


class AsyncAdmin(AsyncMethods):
    """Policies, models, prompts, users, roles, keys, and the state of the installation."""

    @sql_function
    async def set_policy(
        self, settings: Mapping[str, Any], agent_id: str | None = None, user_id: str | None = None
    ) -> dict[str, Any]:
        """Merge settings into a policy (global, per agent, per user) and return it. A null returns to the default.

        The configuration file of an agent (agent_id, resources, resource_config ...) is accepted, whole or in part.
        """

    @sql_function
    async def get_policy(self, agent_id: str | None = None, user_id: str | None = None) -> dict[str, Any]:
        """Return the settings that apply: agent of the user over user over agent over global over built-in."""

    @sql_function
    async def register_model(
        self,
        name: str,
        kind: ModelKind,
        provider: Provider | str,
        model: str,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """Register a model that jobs may use; a key is not a setting, ``api_key_env`` names where a worker finds it."""

    @sql_function
    async def activate_model(self, name: str) -> None:
        """Make a registered model the active model of its kind, which jobs and searches use."""

    @sql_function
    async def deactivate_model(self, name: str) -> None:
        """Switch a model off until it is activated again. Its embeddings stay.

        Without an active embedding model searches go by keyword; without a chat model jobs wait.
        """

    @sql_function
    async def drop_model(self, name: str) -> None:
        """Remove a model that is not active, with its embeddings and their index."""

    @sql_function
    async def backfill_status(self) -> list[Backfill]:
        """Return how many of the searchable texts each embedding model has embedded."""

    @sql_function
    async def vector_index(self, model: str) -> list[str]:
        """Return the statements that make the approximate index of an embedding model.

        Execute them in autocommit mode as the owner of the schema, one after the other: they cannot run in a
        transaction. See "Users with very many memories" in docs/operations.md.

        Raises:
            InvalidValueError: the model has not embedded anything yet.
            NotFoundError: there is no such embedding model.
            RetryableError: the index is being built.
        """

    @sql_function
    async def set_prompt(self, name: str, template: str) -> int:
        """Replace the prompt of a kind of job and return its new version; every variable it needs must stay."""

    @sql_function
    async def reset_prompt(self, name: str) -> int:
        """Return to the built-in prompt, as a new version, and return that."""

    @sql_function
    async def list_users(
        self, search: str | None = None, row_limit: int | None = 50, row_offset: int | None = 0
    ) -> list[UserRecord]:
        """Return the users that something is stored about, the last heard of first; ``search`` is a part of the id."""

    @sql_function(before=_bring_together)
    async def merge_users(self, from_user_id: str, into_user_id: str) -> dict[str, Any]:
        """Make everything of the first user the second's, all or nothing.

        Return ``tables`` (rows by table), ``threads``, ``artifacts`` and ``secrets`` (former name to new name, where
        both users had the name) and ``left_out`` (memories and messages that the second user had forgotten). Raise
        NotFoundError when nothing is stored about the first user. Where these are users of two nodes of a cluster, the
        first one is moved to the node of the second before, which takes the rights of "agent-memory cluster move".
        """

    @sql_function
    async def import_user(
        self,
        user_id: str,
        export: Mapping[str, Any],
        lift_tombstones: bool | None = False,
        is_last: bool | None = True,
    ) -> dict[str, int]:
        """Store what ``export_user`` returned, and return the counts by kind; ``left_out`` was forgotten here before.

        Parts are passed in their order in one transaction, with ``is_last`` False but for the last one;
        ``import_user_from`` does that.

        Raise ConflictError where the user has rows, InvalidValueError where the export is malformed, and
        PermissionDeniedError where ``lift_tombstones`` is True and the role is not an administrator's.
        """

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

    @sql_function
    async def create_space(
        self, space: str, title: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Create a space, which users share; it is written under the ``user_id`` "space:NAME". See docs/spaces.md.

        Raises ConflictError where there is such a space.
        """

    @sql_function
    async def grant_space(self, space: str, user_id: str, access: SpaceAccess | None = "read") -> None:
        """Let a user read a space, or write it too; the last call counts.

        Raises NotFoundError where there is no such space, WrongNodeError where another node of a cluster has the user.
        """

    @sql_function
    async def revoke_space(self, space: str, user_id: str) -> bool:
        """Take back what ``grant_space`` has granted, and return whether the user had anything.

        Raises NotFoundError where there is no such space.
        """

    @sql_function
    async def delete_space(self, space: str) -> dict[str, Any]:
        """Remove a space with everything in it, and return the receipt, as ``forget_user`` does.

        Raises NotFoundError where there is no such space.
        """

    @sql_function
    async def bind_role(self, role_name: str, user_id: str) -> None:
        """Bind a login role to a user: its sessions reach this user only, and need no token.

        Raises ConflictError where the role is bound to another user.
        """

    @sql_function
    async def unbind_role(self, role_name: str) -> None:
        """End the binding of a role, or the trust in its claims; then it reaches nobody until it has a token."""

    @sql_function
    async def trust_claims(self, role_name: str, setting: str | None = "request.jwt.claims") -> None:
        """Believe claims that a gateway such as PostgREST has verified: in this role ``sub`` is the user.

        Args:
            role_name: the role that the gateway sets, which cannot log in itself.
            setting: where the gateway puts the claims, as JSON.

        Raises ConflictError where the role is bound to a user.
        """

    @sql_function
    async def set_token_key(self, key: str, previous: str | None = None) -> None:
        """Set the key that tokens of tenants are signed with, 32 bytes or more in base64.

        Args:
            key: the key from now on.
            previous: a key whose tokens are accepted as well; without one they count no more.
        """

    @sql_function(keys="needed")
    async def reencrypt_secrets(self, batch_size: int | None = 1000) -> int:
        """Encrypt up to ``batch_size`` secrets under the new key, and return how many; at 0 the previous key can go.

        Raises NotSupportedError where AGENT_MEMORY_SECRET_KEY_PREVIOUS is not set.
        """

    @sql_function
    async def schedule_jobs(self, every: str | None = "10 seconds", sweep_at: str | None = "17 3 * * *") -> list[str]:
        """Let pg_cron run the jobs and the nightly sweep inside the database; return what was scheduled.

        ``every`` is an interval such as "10 seconds", ``sweep_at`` a time in the notation of cron.
        """

    @sql_function
    async def sweep(self, batch_size: int | None = 10000) -> dict[str, Any]:
        """Remove expired rows, queue due jobs and parse unread messages, up to ``batch_size`` of each.

        Return the counts by kind.
        """

    @sql_function(keys="wanted")
    async def doctor(self) -> list[Check]:
        """Check the installation, with the keys of secrets in this process's environment if the server has none."""

    @sql_function
    async def status(self) -> dict[str, Any]:
        """Return how the installation goes: versions, models, queue, workers, what is embedded, and problems.

        Each of ``problems`` has a name, is_broken (False where answers are only degraded), a detail and the help.
        """
