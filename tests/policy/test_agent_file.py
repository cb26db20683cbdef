"""The configuration file of an agent as a policy: accepted as it stands, as a whole or from any inner level."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.sqlapi import Api, refused

ARCHIVING = """{
  "agent_id": "librarian",
  "resources": ["memory", "knowledge_base"],
  "provider": "our_azure",
  "model": "gpt-4o-mini",
  "allowed_regular_tools": ["look_up", "calendar"],
  "resource_config": {
    "memory": {
      "compression": {
        "enabled": true,
        "threshold_tokens": 8000,
        "recent_messages_to_keep": 10,
        "archive_conversations": true
      }
    },
    "knowledge_base": {
      "vector_provider": "pgvector",
      "chunk_size": 800,
      "chunk_overlap": 100,
      "embedding_provider": "our_azure",
      "embedding_model": "text-embedding-ada-002",
      "enable_cross_session_context": true,
      "relevance_threshold": 0.7,
      "search_triggers": [
        "what did we discuss",
        "previous conversation",
        "last time",
        "remind me",
        "we mentioned",
        "earlier you said"
      ]
    }
  }
}"""
BASIC = {"agent_id": "helper", "resources": ["memory"], "provider": "our_azure", "model": "gpt-4o-mini"}
RERANKING = {
    "knowledge_base": {
        "rerank_provider": "our_azure",
        "rerank_model": "gpt-4o-mini",
        "enable_cross_session_context": True,
    }
}
INSIDE: dict[str, Any] = json.loads(ARCHIVING)["resource_config"]

pytestmark = pytest.mark.feature("A15", "A19")


class TestAccepted:
    @pytest.mark.parametrize("given", [BASIC, json.loads(ARCHIVING), INSIDE["memory"], RERANKING])
    def test_each_file_as_it_stands(self, api: Api, given: dict[str, Any]) -> None:
        policy = api.set_policy(settings=given)
        inner = given.get("resource_config", given)
        compression = inner.get("memory", inner).get("compression", {})
        assert policy["compression"] == {**api.get_policy()["compression"], **compression}
        knowledge_base = inner.get("knowledge_base", {})
        assert {key: policy["knowledge_base"][key] for key in knowledge_base} == knowledge_base
        assert policy == api.get_policy(agent_id=given.get("agent_id"))

    @pytest.mark.parametrize(
        "part",
        [
            {"resource_config": INSIDE},
            INSIDE,
            {"memory": INSIDE["memory"], "knowledge_base": INSIDE["knowledge_base"]},
            {**INSIDE["memory"], "knowledge_base": INSIDE["knowledge_base"]},
        ],
        ids=["resource_config", "memory and knowledge_base", "both", "compression and knowledge_base"],
    )
    def test_every_inner_level_means_the_same(self, api: Api, part: dict[str, Any]) -> None:
        whole = api.set_policy(settings=json.loads(ARCHIVING))
        policy = api.set_policy(settings=part, agent_id="another")
        assert policy["compression"] == whole["compression"]
        assert policy["knowledge_base"] == whole["knowledge_base"]

    def test_the_policy_is_that_of_the_agent_in_the_file(self, api: Api) -> None:
        before = api.get_policy()
        api.set_policy(settings=json.loads(ARCHIVING), user_id="ana")
        assert api.get_policy(agent_id="librarian", user_id="ana")["compression"]["threshold_tokens"] == 8000
        assert before == api.get_policy() == api.get_policy(agent_id="librarian")

    def test_null_takes_a_key_of_the_file_back(self, api: Api) -> None:
        api.set_policy(settings=json.loads(ARCHIVING))
        nothing = {"resources": None, "provider": None, "model": None, "allowed_regular_tools": None}
        parts = {"memory": {"compression": None}, "knowledge_base": None}
        settings = {"agent_id": "librarian", **nothing, "resource_config": parts}
        assert api.set_policy(settings=settings) == api.get_policy()


MEANINGLESS: list[tuple[dict[str, Any], str]] = [
    ({"agent_id": None}, "agent_id cannot be null"),
    ({"agent_id": "a" * 256}, "agent_id cannot be"),
    ({"resources": ["memory", "redis"]}, "resources: unknown resource"),
    ({"resources": "memory"}, "resources"),
    ({"resources": {"memory": "yes"}}, "resources.memory is not true or false"),
    ({"provider": 5}, "agent.provider cannot be 5"),
    ({"allowed_regular_tools": [1]}, "agent.allowed_regular_tools"),
    ({"resource_config": []}, "resource_config is not an object"),
    ({"resource_config": {"postgres": {}}}, 'unknown key "resource_config.postgres"'),
    ({"memory": {"compresion": {}}}, 'unknown section "compresion"'),
    ({"memory": {"compression": {"threshold": 1}}}, 'unknown key "compression.threshold"'),
    ({"compression": {}, "memory": {"compression": {}}}, 'section "compression" stands twice'),
    ({"model": "m", "agent": {"model": "n"}}, 'section "agent" stands twice'),
    ({"knowledge_base": {"vector_provider": "chroma"}}, 'knowledge_base.vector_provider cannot be "chroma"'),
]


class TestRefused:
    def test_what_means_nothing_is_refused_by_name(self, api: Api) -> None:
        before = api.state()
        for settings, said in MEANINGLESS:
            with refused("settings") as refusal:
                api.set_policy(settings=settings)
            assert said in str(refusal.value)
        assert api.state() == before

    def test_two_agents_are_refused(self, api: Api) -> None:
        with refused("agent_id") as refusal:
            api.set_policy(settings=json.loads(ARCHIVING), agent_id="another")
        assert "another" in str(refusal.value)
        assert "librarian" in str(refusal.value)


class TestModels:
    """provider and model name a registered model, which then does the work of the agent."""

    @staticmethod
    def models(api: Api, agent_id: str) -> set[str]:
        api.talk("ana", f"of {agent_id}", rounds=10, agent_id=agent_id)
        api.value("select memory.summarize_user('ana')")
        return {job.payload["model"]["name"] for job in api.claim_jobs(worker="w", max_jobs=10)}

    def test_the_model_of_the_file_does_the_work_of_the_agent(self, api: Api) -> None:
        api.register_model(name="mini", kind="chat", provider="azure", model="gpt-4o-mini")
        api.set_policy(settings=BASIC)
        assert api.notices == []
        assert self.models(api, "helper") == {"mini"}
        assert self.models(api, "default") == {"local"}

    def test_a_model_that_is_not_registered_yet_is_named_and_used_later(self, api: Api) -> None:
        api.set_policy(settings=BASIC)
        [notice] = api.notices
        assert notice.startswith('model "gpt-4o-mini": no chat model is registered under that name')
        api.register_model(name="gpt-4o-mini", kind="chat", provider="openai", model="anything")
        assert self.models(api, "helper") == {"gpt-4o-mini"}

    def test_the_model_of_summaries_goes_before_it(self, api: Api) -> None:
        for name in ("mini", "small"):
            api.register_model(name=name, kind="chat", provider="openai", model=name)
        api.set_policy(settings={"model": "mini", "summary": {"model": "small"}})
        api.talk("ana", "t", rounds=10)
        api.summarize_thread(user_id="ana", thread_id="t")
        models = {job.kind: job.payload["model"]["name"] for job in api.claim_jobs(worker="w", max_jobs=10)}
        assert models == {"summarize_thread": "small", "extract_memories": "mini"}

    @pytest.mark.parametrize(
        ("provider", "expected"),
        [("openai", "of openai"), ("east", "east/gpt"), ("west", "gpt")],
    )
    def test_the_provider_chooses_among_models_of_one_name(self, api: Api, provider: str | None, expected: str) -> None:
        for name, of in (("of azure", "azure"), ("of openai", "openai"), ("east/gpt", "local"), ("gpt", "local")):
            api.register_model(name=name, kind="chat", provider=of, model="gpt")
        api.set_policy(settings={"provider": provider, "model": "gpt"})
        assert self.models(api, "default") == {expected}
