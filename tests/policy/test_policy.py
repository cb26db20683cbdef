"""Policies: built-in values, layers, merging, refusals, and what each setting does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.sqlapi import Api, refused

pytestmark = pytest.mark.compares_words

# The built-in values; a new key of a defaults.json is repeated here.
DEFAULTS = json.loads("""{
  "resources":  {"memory": true, "knowledge_base": true},
  "agent":      {"provider": null, "model": null, "allowed_regular_tools": null},
  "messages":   {"expires_after": "7 days", "time_zone": null},
  "memories":   {"max_per_agent": 1000, "eviction": "importance", "expires_after": null, "near_duplicate_cosine": 0.97,
                 "max_per_reply": 100, "max_extracted_per_day": 500, "attributes": {}},
  "summary":    {"enabled": true, "when": "needed", "window_size": 14, "start_seq": 5, "as_memory": false},
  "compression": {"enabled": true, "threshold_tokens": 10000, "recent_messages_to_keep": 10, "archive_conversations": false},
  "cadence":    {"fact_extraction_every_n": 10, "thread_summary_every_n": 0, "user_summary_every_n": 0, "reconcile_every_n": 5},
  "artifacts":  {"enabled": true, "threshold_tokens": 500, "roles": ["tool"], "describe": true},
  "knowledge_base": {"chunk_size": 800, "chunk_overlap": 100, "enable_cross_session_context": false, "relevance_threshold": 0.7,
                     "search_triggers": ["what did we discuss", "previous conversation", "last time", "remind me", "we mentioned", "earlier you said"],
                     "vector_provider": "pgvector", "embedding_provider": null, "embedding_model": null, "rerank_provider": null, "rerank_model": null},
  "search":     {"fusion": "score", "rrf_k": 60, "language": "english", "embed_messages": true, "approximate_above": 10000,
                 "preselect_above": 2000, "use_weight": 0.0, "min_relevance": null},
  "context":    {"layout": "cached", "volatile_role": "user", "max_tokens": 4000, "max_memories": 100, "recall": true,
                 "recall_share": 0.5, "min_relevance": 0.25, "recall_cut": 0.3, "keep_recalled": true,
                 "window_step": 0.5, "embed_query": true,
                 "memories_share": 0.15, "cross_session_share": 0.25, "expand_artifacts": true, "artifacts_share": 0.25,
                 "relevance_weight": 1.0, "importance_weight": 0.5, "recency_weight": 0.25, "spaces": [],
                 "whole_history_below": null},
  "checkpoints": {"expires_after": null},
  "secrets":    {"mask_in_threads": false},
  "masking":    {"classes": []},
  "extraction": {"instructions": null, "from_roles": ["user"], "types": {}, "known": 30, "review": false, "procedures": false},
  "erasure":    {"delete_after": "30 days"},
  "changes":    {"keep": "7 days"},
  "trust":      {"rules": true, "screen": false},
  "jobs":       {"max_running_per_user": 4},
  "models":     {"translates": false},
  "budget":     {"tokens_per_user_per_day": null, "tokens_per_agent_per_day": null}
}""")  # noqa: E501

WHOLE_NUMBERS = [
    f"{section}.{key}"
    for section, settings in DEFAULTS.items()
    for key, value in settings.items()
    if type(value) is int or section == "budget"
]


BAD: dict[str, list[Any]] = {
    "messages.expires_after": ["soon", "-1 day", "0 days", 7, " 7 ", True, ["7 days"], "9000 years"],
    "messages.time_zone": ["Mars/Olympus", "UTC+2", "-06:00", 2],
    "memories.max_per_agent": [0, 1.5, "10", True, 3_000_000_000],
    "memories.near_duplicate_cosine": [-0.1, 1.1, "0.9"],
    "memories.eviction": ["oldest", "FIFO", 1],
    "memories.attributes": [{"home": "two"}, {"home": None}],
    "summary.enabled": ["yes", 1],
    "summary.when": ["always", "NEEDED", 5],
    "summary.window_size": [1, 14.5, "14"],
    "summary.start_seq": [-1, "5"],
    "summary.model": ["nobody-registered-it", 5, ["local"]],
    "cadence.fact_extraction_every_n": [-1, False],
    "knowledge_base.search_triggers": ["last time", [1], {}],
    "search.fusion": ["sum", 1],
    "search.language": ["klingon", "a.b.c", '"', 3748, "3748", "english; drop"],
    "context.max_tokens": [0, "4000", 1e10],
    "context.layout": ["after", True],
    "context.recall": ["yes", [True]],
    "context.whole_history_below": [0],
    "jobs.max_running_per_user": [0, "4"],
    "budget.tokens_per_user_per_day": [-1, "1000"],
}
BAD_OF_ADDONS: dict[str, list[Any]] = {
    "context.spaces": ["acme", [1]],
    "masking.classes": ["email", ["mail"]],
    "secrets.mask_in_threads": ["yes"],
}


def refuse(api: Api, bad: dict[str, list[Any]]) -> None:
    before = api.get_policy()
    for key, values in bad.items():
        section, _, name = key.partition(".")
        for value in values:
            with refused("settings") as refusal:
                api.set_policy(settings={section: {name: value}})
            assert key in str(refusal.value), value
    assert api.get_policy() == before


class TestLayers:
    def test_without_any_the_built_in_values_apply(self, api: Api) -> None:
        assert api.get_policy() == api.get_policy(agent_id="helper", user_id="ana") == DEFAULTS, "see DEFAULTS above"

    def test_user_goes_over_agent_over_global(self, api: Api) -> None:
        def window(**who: str) -> int:
            size: int = api.get_policy(**who)["summary"]["window_size"]
            return size

        levels: list[dict[str, str]] = [
            {},
            {"agent_id": "helper"},
            {"user_id": "ana"},
            {"agent_id": "helper", "user_id": "ana"},
        ]
        for level, size in zip(levels, (20, 30, 40, 50), strict=True):
            api.set_policy(settings={"summary": {"window_size": size}}, **level)
            assert window(**levels[-1]) == size  # which all the others apply to
        assert [window(**who) for who in levels] == [20, 30, 40, 50]
        assert window(agent_id="other", user_id="bob") == 20
        assert window(agent_id="helper", user_id="bob") == 30
        assert window(agent_id="other", user_id="ana") == 40

    def test_objects_merge_key_by_key(self, api: Api) -> None:
        api.set_policy(settings={"summary": {"window_size": 20}})
        api.set_policy(settings={"summary": {"start_seq": 9}, "context": {"max_tokens": 100}})
        policy = api.get_policy()
        assert policy["summary"] == {**DEFAULTS["summary"], "window_size": 20, "start_seq": 9}
        assert policy["context"] == {**DEFAULTS["context"], "max_tokens": 100}

    @pytest.mark.parametrize("reset", [{"summary": {"window_size": None}}, {"summary": None}], ids=["key", "section"])
    def test_null_returns_to_what_is_inherited(self, api: Api, reset: dict[str, Any]) -> None:
        api.set_policy(settings={"summary": {"window_size": 20}})
        api.set_policy(settings={"summary": {"window_size": 40}, "context": {"max_tokens": 7}}, user_id="ana")
        assert api.set_policy(settings=reset, user_id="ana")["summary"]["window_size"] == 20
        assert api.get_policy(user_id="ana")["context"]["max_tokens"] == 7
        assert api.set_policy(settings=reset) == DEFAULTS


class TestRefusals:
    def test_a_bad_value_is_refused(self, api: Api) -> None:
        refuse(api, BAD)

    def test_a_bad_value_of_an_add_on_is_refused(self, api: Api) -> None:
        refuse(api, BAD_OF_ADDONS)

    def test_an_unknown_key_is_refused_with_the_known_ones(self, api: Api) -> None:
        for section, keys in DEFAULTS.items():
            with refused("settings") as refusal:
                api.set_policy(settings={section: {"expires": 1}})
            assert f"{section}.expires" in str(refusal.value)
            assert all(key in (refusal.value.diag.message_hint or "") for key in keys)

    def test_a_whole_number_is_written_as_one(self, api: Api) -> None:
        """10.0 would be stored as it is, and no later cast to an integer would take it; 1e1 is 10 in a jsonb."""
        for key in WHOLE_NUMBERS:
            section, _, name = key.partition(".")
            with refused("settings"):
                api.set_policy(settings={section: {name: 10.0}})
            policy = api.value("select memory.set_policy(%(settings)s)", settings=f'{{"{section}": {{"{name}": 1e1}}}}')
            assert repr(policy[section][name]) == "10"

    def test_an_unknown_section_is_refused_with_the_known_ones(self, api: Api) -> None:
        with refused("settings") as refusal:
            api.set_policy(settings={"sumary": {"window_size": 20}})
        hint = refusal.value.diag.message_hint or ""
        assert "sumary" in str(refusal.value)
        assert ", ".join(sorted(DEFAULTS)) in hint

    def test_the_error_says_what_is_wrong_and_what_is_right(self, api: Api) -> None:
        with refused("settings") as refusal:
            api.set_policy(settings={"summary": {"window_size": "twenty"}})
        assert refusal.value.diag.message_primary == 'settings: summary.window_size is not a number: "twenty"'
        assert refusal.value.diag.message_hint == "Use a whole number from 2 to 2147483647."

    def test_a_language_that_someone_else_defined_is_refused(self, api: Api) -> None:
        """Functions look for it among those of PostgreSQL, and for no other of its name."""
        api.connection.execute("create text search configuration public.elvish (copy = pg_catalog.english)")
        for language in ("elvish", "public.elvish"):
            with refused("settings"):
                api.set_policy(settings={"search": {"language": language}})

    def test_one_bad_value_keeps_the_good_ones_out(self, api: Api) -> None:
        before = api.get_policy()
        with refused("settings"):
            api.set_policy(settings={"context": {"max_tokens": 100, "max_memories": 0}})
        assert api.get_policy() == before


def test_a_section_is_the_same_as_in_the_whole_policy(api: Api) -> None:
    for rrf_k, scope in enumerate(({"user_id": "ana", "agent_id": "a"}, {"user_id": "ana"}, {"agent_id": "a"}, {}), 1):
        api.set_policy(settings={"search": {"rrf_k": rrf_k}}, **scope)
        for user_id, agent_id in (("ana", "a"), ("ana", None), ("bob", "a"), ("bob", None)):
            section = api.value("select memory._policy_section(%(u)s, %(a)s, 'search')", u=user_id, a=agent_id)
            assert section == api.value("select memory._policy(%(u)s, %(a)s) -> 'search'", u=user_id, a=agent_id)
