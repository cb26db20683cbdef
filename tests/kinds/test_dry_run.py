"""A dry run of consolidation and reconciliation: its job says what it would do, and nothing changes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kinds.facts import consolidated, current, hand_in, know, reconcile, short_term
from tests.support.protocol import claim
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F34")


def rows(api: Api) -> list[Any]:
    """Everything that such a job may write."""
    tables = ("memories", "memory_history", "documents", "marks", "texts")
    return [api.query(f"select to_jsonb(t) as row from memory.{table} as t order by 1::text") for table in tables]


def test_a_consolidation_proposes_its_articles(api: Api) -> None:
    ids = short_term(api, "Is looking for a boat", "Bought a boat", "Rain")
    job_id = api.consolidate(user_id="ana", dry_run=True)
    job = claim(api, "consolidate")
    before = rows(api)
    text = "Ana looked for a boat and bought one."
    found = ("Is looking for a boat", "Bought a boat")
    outcome = consolidated(api, ("The boat", text, found), job=job)
    assert rows(api) == before
    assert outcome == api.get_job(user_id="ana", job_id=job_id).result
    assert (outcome["articles"], outcome["consolidated"]) == (1, 2)
    [article] = outcome["proposal"]["articles"]
    assert article == {"title": "The boat", "content": text, "memory_ids": [str(i) for i in ids[:2]]}
    assert [(e["memory_id"], e["content"], e["reason"]) for e in outcome["proposal"]["ends"]] == [
        (str(memory_id), content, "consolidated") for memory_id, content in zip(ids, found, strict=False)
    ]
    # The same job without dry_run does what was proposed.
    assert consolidated(api, ("The boat", text, found)) == {"articles": 1, "consolidated": 2, "refused": 0}
    assert current(api) == ["Rain"]


def test_a_reconciliation_proposes_what_would_end(api: Api) -> None:
    old, new = know(api, "Lives in Rome", source="extraction") + know(api, "Lives in Oslo", source="extraction")
    api.reconcile_memories(user_id="ana", dry_run=True)
    job = claim(api, "reconcile_memories")
    before = rows(api)
    pair = ("Lives in Rome", "Lives in Oslo")
    outcome = hand_in(api, job, contradictions=(pair,))
    assert rows(api) == before
    assert (outcome["kept"], outcome["contradicted"]) == (1, 1)
    [end] = outcome["proposal"]["ends"]
    assert (end["memory_id"], end["content"]) == (str(old), "Lives in Rome")
    assert (end["superseded_by"], end["reason"]) == (str(new), "replaced")
    assert "proposal" not in reconcile(api, contradictions=(pair,))
    assert current(api) == ["Lives in Oslo"]


def test_a_proposal_goes_with_what_it_quotes(api: Api) -> None:
    ids = short_term(api, "Is looking for a boat", "Bought a boat")
    job_id = api.consolidate(user_id="ana", dry_run=True)
    consolidated(api, ("Boat", "Ana bought a boat.", ("Is looking for a boat", "Bought a boat")), job=claim(api))
    api.forget_memory(user_id="ana", memory_id=ids[1])
    assert not api.query("select from memory.jobs where job_id = %(id)s", id=job_id)
