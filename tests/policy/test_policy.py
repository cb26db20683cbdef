"""Policies: built-in values, layers, merging, refusals, and what each setting does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from psycopg.types.json import Jsonb

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

    def test_setting_returns_what_then_applies(self, api: Api) -> None:
        api.set_policy(settings={"context": {"max_tokens": 1}})
        policy = api.set_policy(settings={"context": {"max_memories": 3}}, agent_id="helper")
        context = {**DEFAULTS["context"], "max_tokens": 1, "max_memories": 3}
        assert policy == api.get_policy(agent_id="helper") == {**DEFAULTS, "context": context}

    def test_objects_merge_key_by_key(self, api: Api) -> None:
        api.set_policy(settings={"summary": {"window_size": 20}})
        api.set_policy(settings={"summary": {"start_seq": 9}, "context": {"max_tokens": 100}})
        policy = api.get_policy()
        assert policy["summary"] == {**DEFAULTS["summary"], "window_size": 20, "start_seq": 9}
        assert policy["context"] == {**DEFAULTS["context"], "max_tokens": 100}

    def test_lists_replace(self, api: Api) -> None:
        api.set_policy(settings={"knowledge_base": {"search_triggers": ["remind me", "back then"]}})
        api.set_policy(settings={"knowledge_base": {"search_triggers": ["back then"]}}, user_id="ana")
        assert api.get_policy(user_id="ana")["knowledge_base"]["search_triggers"] == ["back then"]
        assert api.get_policy()["knowledge_base"]["search_triggers"] == ["remind me", "back then"]

    @pytest.mark.parametrize("reset", [{"summary": {"window_size": None}}, {"summary": None}], ids=["key", "section"])
    def test_null_returns_to_what_is_inherited(self, api: Api, reset: dict[str, Any]) -> None:
        api.set_policy(settings={"summary": {"window_size": 20}})
        api.set_policy(settings={"summary": {"window_size": 40}, "context": {"max_tokens": 7}}, user_id="ana")
        assert api.set_policy(settings=reset, user_id="ana")["summary"]["window_size"] == 20
        assert api.get_policy(user_id="ana")["context"]["max_tokens"] == 7
        assert api.set_policy(settings=reset) == DEFAULTS

    def test_an_empty_change_changes_nothing(self, api: Api) -> None:
        assert api.set_policy(settings={}) == DEFAULTS
        assert api.set_policy(settings={"summary": {}}) == DEFAULTS


class TestRefusals:
    def test_an_unknown_section_is_refused_with_the_known_ones(self, api: Api) -> None:
        with refused("settings") as refusal:
            api.set_policy(settings={"sumary": {"window_size": 20}})
        hint = refusal.value.diag.message_hint or ""
        assert "sumary" in str(refusal.value)
        assert ", ".join(sorted(DEFAULTS)) in hint

    def test_a_key_in_the_place_of_a_section_is_refused_with_how_to_write_it(self, api: Api) -> None:
        with refused("settings") as refusal:
            api.set_policy(settings={"messages.expires_after": "7 days"})
        assert refusal.value.diag.message_hint == 'Write it as {"messages": {"expires_after": ...}}.'

    @pytest.mark.parametrize(
        ("section", "key", "value", "problem", "hint"),
        [
            ("search", "fusion", "cosine", 'search.fusion: unknown value "cosine"', 'Use one of "score", "rrf".'),
            ("context", "recall", 1, "context.recall: unknown value 1", 'Use one of true, false, "when_needed".'),
            (
                "summary",
                "window_size",
                "twenty",
                'summary.window_size is not a number: "twenty"',
                "Use a whole number from 2 to 2147483647.",
            ),
            (
                "memories",
                "near_duplicate_cosine",
                2,
                "memories.near_duplicate_cosine is out of range: 2",
                "Use a number from 0 to 1.",
            ),
        ],
    )
    def test_the_error_says_what_is_wrong_and_what_is_right(
        self, api: Api, section: str, key: str, value: object, problem: str, hint: str
    ) -> None:
        with refused("settings") as refusal:
            api.set_policy(settings={section: {key: value}})
        assert refusal.value.diag.message_primary == f"settings: {problem}"
        assert refusal.value.diag.message_hint == hint

    @pytest.mark.parametrize("section", DEFAULTS)
    def test_an_unknown_key_is_refused_with_the_known_ones(self, api: Api, section: str) -> None:
        with refused("settings") as refusal:
            api.set_policy(settings={section: {"expires": 1}})
        assert f"{section}.expires" in str(refusal.value)
        assert all(key in (refusal.value.diag.message_hint or "") for key in DEFAULTS[section])

    @pytest.mark.parametrize(
        ("key", "values"),
        [
            (
                "messages.expires_after",
                [
                    "soon",
                    "",
                    "-1 day",
                    "0",
                    "0 days",
                    7,
                    "7",
                    " 7 ",
                    True,
                    {},
                    ["7 days"],
                    "999999 years",
                    "9000 years",
                ],
            ),
            ("memories.expires_after", ["soon", 7]),
            ("messages.time_zone", ["Mars/Olympus", "", "UTC+2", "-06:00", 2, True, {}, ["UTC"]]),
            ("erasure.delete_after", ["soon", 7, "-1 day"]),
            ("memories.max_per_agent", [0, -1, 1.5, "10", True, [], 3_000_000_000]),
            ("memories.near_duplicate_cosine", [-0.1, 1.1, "0.9"]),
            ("memories.eviction", ["oldest", "FIFO", 1, True]),
            ("memories.max_per_reply", [0, -1, 1.5, "10"]),
            ("memories.max_extracted_per_day", [0, -1, 1.5, "10"]),
            ("summary.enabled", ["yes", 1, "true", {}]),
            ("summary.when", ["always", "NEEDED", "", True, 5, ["needed"], {}]),
            ("summary.window_size", [0, 1, -14, 14.5, "14", 3_000_000_000]),
            ("summary.start_seq", [-1, 0.5, "5"]),
            ("summary.model", ["nobody-registered-it", 5, "", ["local"], True]),
            ("cadence.fact_extraction_every_n", [-1, 2.5, "10", False]),
            ("knowledge_base.search_triggers", ["last time", [1], [None], {}]),
            ("knowledge_base.relevance_threshold", [7, "0.7"]),
            ("knowledge_base.enable_cross_session_context", ["yes", 1]),
            ("search.fusion", ["sum", 1, "SCORE"]),
            ("search.language", ["klingon", "", " ", "a.b.c", '"', 5, 3748, "3748", True, {}, "english; drop"]),
            ("search.embed_messages", ["on", 0]),
            ("context.max_tokens", [0, -1, "4000", 1e10]),
            ("context.max_memories", [0, 2.5]),
            ("context.layout", ["after", True]),
            ("context.volatile_role", ["assistant"]),
            ("context.min_relevance", [-0.1, 1.1, "near"]),
            ("context.recall", ["yes", 1, [True]]),
            ("context.recall_share", [-0.1, 1.1, "half"]),
            ("context.recall_cut", [-0.1, 1.1]),
            ("context.whole_history_below", [0]),
            ("extraction.review", ["yes", 1]),
            ("memories.attributes", [{"home": "two"}, {"home": 1}, {"home": None}, {"home": ["one"]}]),
            ("context.window_step", [-0.1, 1.1]),
            ("context.memories_share", [-0.1, 1.1, "0.5", True]),
            ("context.cross_session_share", [-0.1, 2, []]),
            ("context.relevance_weight", [-0.1, 2, "1"]),
            ("search.use_weight", [-0.1, 1.1, "0.5", True]),
            ("search.min_relevance", [-0.1, 1.1, "0.5", True]),
            ("context.embed_query", [1, "true"]),
            ("jobs.max_running_per_user", [0, -1, 1.5, "4"]),
            ("budget.tokens_per_user_per_day", [-1, "1000"]),
        ],
    )
    def test_a_bad_value_is_refused(self, api: Api, key: str, values: list[Any]) -> None:
        before = api.get_policy()
        section, _, name = key.partition(".")
        for value in values:
            print(key, value)  # shown when the test fails
            with refused("settings") as refusal:
                api.set_policy(settings={section: {name: value}})
            assert key in str(refusal.value)
        assert api.get_policy() == before

    @pytest.mark.parametrize(
        ("key", "values"),
        [
            ("context.spaces", ["acme", [1], [None], {}]),
            ("masking.classes", ["email", ["mail"], [1], {"email": True}, True]),
            ("secrets.mask_in_threads", ["yes", 1]),
        ],
    )
    def test_a_bad_value_of_an_add_on_is_refused(self, api: Api, key: str, values: list[Any]) -> None:
        self.test_a_bad_value_is_refused(api, key, values)

    @pytest.mark.parametrize("key", WHOLE_NUMBERS)
    def test_a_whole_number_is_written_as_one(self, api: Api, key: str) -> None:
        """10.0 would be stored as it is, and no later cast to an integer would take it; 1e1 is 10 in a jsonb."""
        section, _, name = key.partition(".")
        for value in (10.0, 0.0):
            with refused("settings"):
                api.set_policy(settings={section: {name: value}})
        policy = api.value("select memory.set_policy(%(settings)s)", settings=f'{{"{section}": {{"{name}": 1e1}}}}')
        assert repr(policy[section][name]) == "10"

    def test_a_language_that_someone_else_defined_is_refused(self, api: Api) -> None:
        """Functions look for it among those of PostgreSQL, and for no other of its name."""
        api.connection.execute("create text search configuration public.elvish (copy = pg_catalog.english)")
        for language in ("elvish", "public.elvish"):
            with refused("settings"):
                api.set_policy(settings={"search": {"language": language}})

    @pytest.mark.parametrize("section", [1, "summary", True, Jsonb([])])
    def test_a_section_must_be_an_object(self, api: Api, section: Any) -> None:
        with refused("settings"):
            api.set_policy(settings={"summary": section.obj if isinstance(section, Jsonb) else section})

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
