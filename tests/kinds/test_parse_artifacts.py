"""Kind parse_artifacts: the words of artifacts are parsed after these were stored, some MB at a time."""

from __future__ import annotations

from typing import Any

import pytest

from tests.artifacts.steps import found, search, store
from tests.support.protocol import claim, complete, open_jobs
from tests.support.sqlapi import Api, refused

LINE = "2026-05-01 12:00:00 INFO nothing of note happened here\n"
LOG = LINE * 6000 + "The harbour master wrote about a zebra.\n" + LINE * 6000
UNPARSED = "select count(*) from memory.artifact_parts where not is_parsed"


@pytest.mark.feature("C6")
def test_a_job_parses_what_was_stored_and_another_follows_for_the_rest(api: Api) -> None:
    store(api, LOG, key="log")
    store(api, "zebra", key="bobs", user_id="bob")
    assert found(api, "zebra") == []  # it stands behind what a search parses itself
    job = claim(api, "parse_artifacts", max_jobs=1)
    user_id = job.user_id
    assert job.payload["max_bytes"] == 4_000_000
    before = api.value(UNPARSED)
    assert complete(api, job, max_bytes=100_000)["parsed"] == (1 if user_id == "bob" else before - api.value(UNPARSED))
    while jobs := api.claim_jobs(worker="test", kinds=["parse_artifacts"]):
        complete(api, jobs[0], max_bytes=100_000)
    assert (api.value(UNPARSED), open_jobs(api)) == (0, [])
    [result] = search(api, "zebra")
    assert (result.id, "\nThe harbour master wrote about a zebra.\n" in result.content) == ("log", True)
    line = result.details["from_line"]
    assert "zebra" in api.retrieve_artifact(user_id="ana", key="log", from_line=line, max_lines=60)
    assert found(api, "zebra", user_id="bob") == ["bobs"]


@pytest.mark.feature("C6")
@pytest.mark.parametrize("max_bytes", [None, 0, 4_000_001, "all"])
def test_a_result_that_is_no_number_of_bytes_is_refused(api: Api, max_bytes: Any) -> None:
    store(api, "tea")
    with refused("result"):
        complete(api, claim(api, "parse_artifacts"), max_bytes=max_bytes)
    assert api.value(UNPARSED) == 1
