"""Random operations by several clients on the database and on its model, by hypothesis.

A step is one rule. Rules draw few users, agents, threads, keys and contents, so that they meet. After each step the
lists of the user that it concerned must be those of the model; at the end of each run all counters are computed again.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant

from tests.torture.model.rules_articles import ArticleRules
from tests.torture.model.rules_embeddings import EmbeddingRules
from tests.torture.model.rules_exports import ExportRules
from tests.torture.model.rules_memories import MemoryRules
from tests.torture.model.rules_messages import MessageRules
from tests.torture.model.rules_reconcile import ReconcileRules
from tests.torture.model.rules_stores import StoreRules
from tests.torture.model.rules_summaries import SummaryRules
from tests.torture.model.rules_tenants import TenantRules
from tests.torture.model.rules_trust import TrustRules
from tests.torture.model.world import THREADS, USERS, World


class Contract(
    ExportRules, ArticleRules, ReconcileRules, EmbeddingRules, SummaryRules, TrustRules, TenantRules, MessageRules,
    MemoryRules, StoreRules,
):  # fmt: skip
    """Everything at random."""

    world: World
    """The database of all runs; set on the subclass that runs."""
    steps = 0
    """How many steps all runs have taken."""

    def __init__(self) -> None:
        super().__init__()
        self.touched = None
        self.kept = {}
        self.handed_in = {}

    @initialize(limit=st.sampled_from([3, 4, 6]))
    def begin(self, limit: int) -> None:
        """Everybody has a little of everything, so that the first steps have something to meet.

        The world begins here and not in __init__(), of whose errors Hypothesis tells nothing.
        """
        self.world.begin_anew()
        self.set_policy(limit=limit, eviction="importance", agent_id=None, user_id=None)
        for user_id in USERS:
            for number, thread_id in enumerate(THREADS[:2]):
                self.say(user_id, thread_id, number)
                self.say_and_learn(user_id=user_id, thread_id=thread_id, learned=number)
                self.extract_memories(user_id=user_id, thread_id=thread_id, recent_k=None, says=True)
                self.add_memory(
                    user_id=user_id, number=number, memory_type="fact", agent_id="default", thread_id=thread_id,
                    tags=["a"], importance=0.5, source="user", on_conflict="ignore", expires=None, is_over=False,
                    is_loud=False,
                )  # fmt: skip
            self.store_artifact(user_id=user_id, key="k1", number=1, thread_id="t1", expires=None)
        self.touched = USERS[0]

    @invariant()
    def lists_are_those_of_the_model(self) -> None:
        type(self).steps += 1
        if self.touched is not None:
            user_id, self.touched = self.touched, None
            self.compare_messages(user_id)
            self.compare_memories(user_id)
            self.compare_stores(user_id)
            self.compare_trust(user_id)
            self.compare_summaries(user_id)
            self.compare_jobs(user_id)

    def teardown(self) -> None:
        self.world.audit()
