"""Rules of exports: what a user had comes back as it was, but for what tombstones keep out."""

from __future__ import annotations

import copy
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.torture.model.base import users
from tests.torture.model.memories import Memories
from tests.torture.model.messages import Conversations
from tests.torture.model.rules_messages import MessageRules
from tests.torture.model.stores import Stores
from tests.torture.model.world import BOUND_ROLES, check, remove_rows

Layers = dict[tuple[str | None, str | None], dict[str, Any]]
part_sizes = st.sampled_from([None, None, 1, 7, 40])
"""Rows of a part of an export; none for the export as a whole."""


@dataclass
class Kept:
    """An export, and the model of its user at that moment."""

    export: dict[str, Any]
    memories: Memories
    talk: Conversations
    stores: Stores
    layers: Layers
    """The user's policies."""


class ExportRules(MessageRules):
    """Exports, and users who are removed and imported."""

    kept: dict[str, Kept]
    """The last export of each user."""

    @rule(user_id=users, max_rows=part_sizes)
    def export_user(self, user_id: str, max_rows: int | None) -> None:
        export = self.exported(user_id, max_rows)
        world = self.world
        memo = {id(world.clock): world.clock, id(world.policies): world.policies}
        model = world.memories[user_id], world.talks[user_id], world.stores[user_id], self.layers_of(user_id)
        kept = self.kept[user_id] = Kept(export, *copy.deepcopy(model, memo))
        for part in (kept.memories, kept.talk, kept.stores):
            part.drop_expired()

    @rule(user_id=users)
    def forget_user(self, user_id: str) -> None:
        self.world.call("forget_user", user_id=user_id)  # with what binds a role to the user
        self.world.api.bind_role(role_name=BOUND_ROLES[user_id], user_id=user_id)
        self.set_model(
            user_id, Memories(user_id, self.world.clock, self.world.policies), Conversations(self.world.clock)
        )
        self.touched = user_id

    @rule(
        user_id=users, max_rows=part_sizes, is_new=st.booleans(), how=st.sampled_from(["lost", "lifted", "forgotten"])
    )
    def import_user(self, user_id: str, max_rows: int | None, is_new: bool, how: str) -> None:
        """Of an export that is new, or older than much of what the user has.

        ``lost``: without erasure, as when an export is put into an empty database; ``lifted``: after an erasure that
        the owner takes back; ``forgotten``: after an erasure, which keeps all out.
        """
        if is_new or user_id not in self.kept:
            self.export_user(user_id=user_id, max_rows=max_rows)
        kept = self.kept[user_id]
        forgotten = self.world.memories[user_id].forgotten
        if how == "lost":
            self.lose(user_id)
        else:
            self.forget_user(user_id=user_id)
            self.world.api.unbind_role(role_name=BOUND_ROLES[user_id])  # which would count as a row of the user
        left_out = self.imported(user_id, kept.export, max_rows, how == "lifted")
        self.world.api.bind_role(role_name=BOUND_ROLES[user_id], user_id=user_id)
        found = self.exported(user_id, None)
        check(left_out, rows(kept.export) - rows(found), f"rows of {user_id} that an import leaves out")
        if how == "forgotten":
            check(rows(found), 0, f"rows of {user_id} after the user was forgotten")
            return
        del self.kept[user_id]  # the model goes on with its objects
        self.set_model(user_id, kept.memories, kept.talk, kept.stores, kept.layers)
        kept.talk.jobs.clear()  # open jobs are not exported, others have new numbers
        kept.memories.forgotten = forgotten if how == "lost" else set()
        if not self.leave_out(user_id):
            check(found, kept.export, f"export of {user_id} after an import")
        if kept.memories.left_hidden():
            self.sweep()
        self.touched = user_id

    def exported(self, user_id: str, max_rows: int | None) -> dict[str, Any]:
        """As a whole, or put together from parts."""
        export: dict[str, Any] = self.world.call("export_user", user_id=user_id, max_rows=max_rows)
        after = export.pop("next", None)
        while after is not None:
            part = self.world.call("export_user", user_id=user_id, max_rows=max_rows, after=after)
            after = part.pop("next")
            for kind, found in part.items():
                export[kind] = [*export.get(kind, []), *found] if isinstance(found, list) else found
        return export

    def imported(self, user_id: str, export: dict[str, Any], max_rows: int | None, is_lifted: bool) -> int:
        """At once, or in parts of one kind each; how many rows stayed out."""
        api = self.world.api
        self.world.calls += 1
        arguments = {"user_id": user_id, "lift_tombstones": is_lifted}
        with ExitStack() as stack:
            if max_rows is not None:
                stack.enter_context(api.connection.transaction())
                head = {name: value for name, value in export.items() if not isinstance(value, list)}
                for [kind] in api.query("select kind from memory._export_kinds() order by place"):
                    for begin in range(0, len(export[kind]), max_rows):
                        part = head | {kind: export[kind][begin : begin + max_rows]}
                        api.import_user(**arguments, export=part, is_last=False)
                export = head
            left_out: int = api.import_user(**arguments, export=export)["left_out"]
        return left_out

    def lose(self, user_id: str) -> None:
        """Remove the rows of a user, as if the user came to a database that has the tombstones of statements only."""
        api = self.world.api
        api.connection.execute("delete from memory.tombstones where statement_hash = ''")
        with api.connection.transaction():
            remove_rows(api.connection, user_id)

    def set_model(
        self, user_id: str, memories: Memories, talk: Conversations, stores: Stores | None = None,
        layers: Layers | None = None,
    ) -> None:  # fmt: skip
        world = self.world
        world.memories[user_id], world.talks[user_id] = memories, talk
        world.stores[user_id] = stores or Stores(documents=memories.documents)
        for key in self.layers_of(user_id):
            del world.policies.layers[key]
        world.policies.layers |= layers or {}

    def layers_of(self, user_id: str) -> Layers:
        return {key: layer for key, layer in self.world.policies.layers.items() if key[1] == user_id}

    def leave_out(self, user_id: str) -> bool:
        """Remove from the model what tombstones of statements keep out; whether there was any."""
        memories, talk = self.world.memories[user_id], self.world.talks[user_id]
        return talk.leave_out(memories.forgotten, memories.leave_out())


def rows(export: dict[str, Any]) -> int:
    """How many rows of all kinds an export has."""
    return sum(len(value) for value in export.values() if isinstance(value, list))
