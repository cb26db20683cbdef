"""Files of agents that list no resources, or the knowledge base alone."""

from __future__ import annotations

import pytest

from tests.support.protocol import ANA
from tests.support.sqlapi import Api


@pytest.mark.feature("A19")
def test_a_file_without_resources_has_no_memory(api: Api) -> None:
    file = {"agent_id": "plain", "provider": "azure_openai_cc", "model": "gpt-4o-mini"}
    assert api.set_policy(settings=file)["resources"] == {"memory": False, "knowledge_base": False}
    assert api.add_message(**ANA, role="user", content="Hi", agent_id="plain").seq is None
    assert api.get_context(**ANA, agent_id="plain") == []


@pytest.mark.feature("A19", "A12")
def test_the_knowledge_base_alone_finds_its_documents_and_nothing_else(api: Api) -> None:
    api.set_policy(settings={"agent_id": "reader", "resources": ["knowledge_base"]})
    api.add_document(user_id="ana", content="The amber badger pipeline retries nine times.")
    api.add_memory(user_id="ana", content="Owns the amber badger pipeline")
    found = api.search(user_id="ana", query="amber badger pipeline", agent_id="reader")
    assert [row.source for row in found] == ["document"]
    assert [row.doc_type for row in api.list_documents(user_id="ana", doc_type="documents")] == ["document"]
