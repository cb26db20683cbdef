"""Rules of artifacts, documents and secrets."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.torture.model.base import Rules, expiries, keys, numbers, pick, picks, threads, users
from tests.torture.model.stores import Document
from tests.torture.model.values import TIMES
from tests.torture.model.world import check

namespaces = st.sampled_from(["default", "manuals"])
secret_names = st.sampled_from(["bank", "mail", "wifi"])


class StoreRules(Rules):
    """Artifacts, documents and secrets."""

    @rule(user_id=users, key=keys, number=st.integers(0, 2), thread_id=st.none() | threads, expires=expiries)
    def store_artifact(self, user_id: str, key: str, number: int, thread_id: Any, expires: Any) -> None:
        stores = self.world.stores[user_id]
        content = f"{self.text(user_id, number)}\n" * (number * 300 + 1)
        with self.world.same_refusal(
            lambda: stores.store(key, content, thread_id, expires), f"store_artifact({user_id}, {key}, {number})"
        ):
            answer = self.world.call(
                "store_artifact", user_id=user_id, content=content, key=key, thread_id=thread_id,
                expires_at=TIMES[expires],
            )  # fmt: skip
            check(answer.key, key, "key of an artifact")
        self.touched = user_id

    @rule(user_id=users, key=keys, from_token=st.integers(0, 40), max_tokens=st.none() | st.integers(1, 500))
    def retrieve_artifact(self, user_id: str, key: str, from_token: int, max_tokens: Any) -> None:
        stores = self.world.stores[user_id]
        self.world.both(
            lambda: stores.retrieve(key, from_token, max_tokens), "retrieve_artifact", user_id=user_id, key=key,
            from_token=from_token, max_tokens=max_tokens,
        )  # fmt: skip

    @rule(user_id=users, key=keys)
    def delete_artifact(self, user_id: str, key: str) -> None:
        stores = self.world.stores[user_id]
        self.world.both(lambda: stores.delete_artifact(key), "delete_artifact", user_id=user_id, key=key)
        self.touched = user_id

    @rule(user_id=users, number=numbers, namespace=namespaces)
    def add_document(self, user_id: str, number: int, namespace: str) -> None:
        content = self.text(user_id, number)
        document_id = self.world.call("add_document", user_id=user_id, content=content, namespace=namespace)
        self.world.stores[user_id].documents[document_id] = Document(content, namespace)
        self.touched = user_id

    @rule(user_id=users, number=picks)
    def delete_document(self, user_id: str, number: int) -> None:
        memories = self.world.memories[user_id]
        document_id = pick(list(memories.documents), number)
        if document_id is not None:
            self.world.both(
                lambda: memories.delete_document(document_id), "delete_document", user_id=user_id,
                document_id=document_id,
            )  # fmt: skip
        self.touched = user_id

    @rule(
        user_id=users, name=secret_names, value=st.sampled_from(["hush", "Zwölf Äpfel", "x" * 3000]),
        how=st.sampled_from(["set", "set", "get", "delete"]),
    )  # fmt: skip
    def use_secret(self, user_id: str, name: str, value: str, how: str) -> None:
        """Servers without pgcrypto keep no secrets."""
        if not self.world.has_secrets:
            return
        stores = self.world.stores[user_id]
        if how == "set":
            self.world.call("set_secret", user_id=user_id, name=name, value=value)
            stores.secrets[name] = value
        elif how == "get":
            self.world.both(lambda: stores.get_secret(name), "get_secret", user_id=user_id, name=name)
        else:
            self.world.both(lambda: stores.delete_secret(name), "delete_secret", user_id=user_id, name=name)
        self.touched = user_id

    def compare_stores(self, user_id: str) -> None:
        api, stores = self.world.session(user_id), self.world.stores[user_id]
        check([a.key for a in api.list_artifacts(user_id=user_id)], stores.listed(), f"list_artifacts({user_id})")
        check(
            [(d.document_id, d.content, d.namespace) for d in api.list_documents(user_id=user_id, row_limit=1000)],
            [(i, d.content, d.namespace) for i, d in reversed(stores.shown().items())],
            f"list_documents({user_id})",
        )
        check([s.name for s in api.list_secrets(user_id=user_id)], sorted(stores.secrets), f"list_secrets({user_id})")
