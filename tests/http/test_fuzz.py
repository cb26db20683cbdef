"""Every endpoint is called with what /openapi.json allows and with what it does not: no answer is a server error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.http.steps import KEY, token, with_keys

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


@pytest.mark.nightly
@pytest.mark.feature("B14")
@pytest.mark.parametrize("bearer", [KEY, token("ana")], ids=["administrator", "user"])
def test_no_request_is_a_server_error(dsn: str, bearer: str, tmp_path: Path) -> None:
    with with_keys(dsn, "--rate-limit", "0") as serving:
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{serving.url}/openapi.json", "--no-color"]
        options = ["--max-time", "120", "--checks", CHECKS, "--header", f"Authorization: Bearer {bearer}"]
        limits = ["--request-timeout", "60", "--suppress-health-check", "all", "--warnings", "off", "--workers", "2"]
        done = subprocess.run([*command, *options, *limits], cwd=tmp_path, capture_output=True, text=True, check=False)
        with serving.client() as admin:
            assert admin.get("/healthz").status_code == 200
    assert done.returncode == 0, done.stdout + done.stderr
