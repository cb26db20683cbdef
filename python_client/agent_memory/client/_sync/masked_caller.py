# Generated from _async/masked_caller.py by generate_sync.py; do not edit.
"""Calls of SQL functions that may need a key of secrets, which no log of statements may show."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from psycopg import Cursor
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row, scalar_row

from ..arguments import parameters
from ..masks import MAY_MASK, keys_of_environment, masked
from ..notices import Notices
from ..statements import statement
from .caller import SyncCaller, translated


class SyncMaskedCaller(SyncCaller):
    """How a client calls functions that may need a key of secrets."""

    def _masked_value(
        self, function: str, required: Mapping[str, Any], *, masks_value: bool = False, **optional: Any
    ) -> Any:
        """Call a function that may need a key, and return its value."""
        [row] = self._masked_rows(function, required, masks_value=masks_value, **optional)
        [value] = row.values()
        return value

    def _masked_rows(
        self,
        function: str,
        required: Mapping[str, Any],
        *,
        masks_value: bool = False,
        needs_keys: bool = True,
        **optional: Any,
    ) -> list[dict[str, Any]]:
        """Call a function that may need a key, and return its rows.

        Args:
            function: the function.
            required: its arguments.
            masks_value: whether its argument ``value`` goes under the mask, too.
            needs_keys: False if it does without where the role may not mask a key.
            optional: its arguments that have a default.
        """
        arguments = parameters(self._senders[function], required, optional)
        keys = keys_of_environment()
        notices = Notices(self._warned)
        with self._borrowed(notices) as connection, translated(connection, function):
            # The mask lives as long as the transaction: the caller's own where there is one.
            is_alone = connection.autocommit and connection.info.transaction_status == TransactionStatus.IDLE
            with connection.transaction() if is_alone else nullcontext():
                self._send_token(connection)
                cursor = Cursor(connection, row_factory=scalar_row)
                if keys and not needs_keys:
                    cursor.execute(MAY_MASK)
                    keys = keys if cursor.fetchone() else {}
                if keys or masks_value:
                    cursor.execute("select memory._secret_mask()")
                    mask: bytes = cursor.fetchone() or b""
                    for setting, key in keys.items():
                        cursor.execute("select set_config(%s, %s, true) is null", [setting, masked(key, mask, setting)])
                    if masks_value:
                        arguments["value"] = masked(arguments["value"], mask, "value")
                answer = Cursor(connection, row_factory=dict_row)
                answer.execute(statement("select * from", function, tuple(arguments)), arguments)
                rows = answer.fetchall()
        notices.warn()
        return rows
