"""The container files as far as they can be checked without an engine: schemas, rights, and the commands themselves."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import psycopg
import pytest
import yaml  # type: ignore[import-untyped]

from tests.http.steps import KEY, Serving
from tests.support.runners import PATIENCE, wait_until
from tests.support.servers import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

DOCKER = ROOT / "docker"
KUBERNETES = DOCKER / "kubernetes"
PAGE = (ROOT / "docs" / "deployment.md").read_text()
OLDEST, NEWEST = "1.29", "1.36"
NAME = "app.kubernetes.io/name"


def resources() -> list[dict[str, Any]]:
    """All that the manifests make."""
    files = sorted(path for path in KUBERNETES.glob("*.yaml") if path.name != "kustomization.yaml")
    return [resource for path in files for resource in yaml.safe_load_all(path.read_text())]


def named(kind: str, name: str) -> dict[str, Any]:
    """The specification of one of them."""
    [found] = [each["spec"] for each in resources() if (each["kind"], each["metadata"].get("name")) == (kind, name)]
    specification: dict[str, Any] = found
    return specification


def templates() -> list[dict[str, Any]]:
    """The templates of all pods."""
    specifications = [each["spec"].get("jobTemplate", each)["spec"] for each in resources()]
    return [specification["template"] for specification in specifications if "template" in specification]


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
def test_the_manifests_are_what_kubernetes_takes(version: str) -> None:
    for resource in resources():
        resource["metadata"].setdefault("name", resource["metadata"].get("generateName"))  # which the checker prints
        kubernetes_validate.validate(resource, version, strict=True)
    kinds = {resource["kind"] for resource in resources()}
    assert kinds == {"CronJob", "Deployment", "Job", "NetworkPolicy", "PodDisruptionBudget", "Service"}


def test_every_pod_is_restricted_and_bounded() -> None:
    assert len(templates()) == 4
    for template in templates():
        pod = template["spec"]
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        [container] = pod["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["requests"].keys() == {"cpu", "memory"}
        assert "memory" in container["resources"]["limits"]
        [volume] = pod["volumes"]
        assert container["volumeMounts"] == [{"name": volume["name"], "mountPath": "/tmp"}]
        assert "emptyDir" in volume


def test_the_parts_name_each_other() -> None:
    kustomization = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())
    files = {path.name for path in KUBERNETES.glob("*.yaml")}
    assert set(kustomization["resources"]) == files - {"kustomization.yaml", "install.yaml"}
    with (ROOT / "pyproject.toml").open("rb") as file:
        version = tomllib.load(file)["project"]["version"]
    [image] = kustomization["images"]
    whole = f"{image['newName']}:{image['newTag']}"
    assert image["newTag"] == version
    assert {template["spec"]["containers"][0]["image"] for template in templates()} == {image["name"], whole}
    assert PAGE.count(whole) == 2
    pods = [template["metadata"]["labels"] for template in templates()]
    assert {labels[NAME] for labels in pods} == {"agent-memory"}
    for resource in resources():
        specification = resource["spec"]
        selector = specification.get("selector") or specification.get("podSelector")
        if selector is not None:
            wanted = selector.get("matchLabels", selector).items()
            assert any(wanted <= labels.items() for labels in pods), resource
    [port] = named("Deployment", "agent-memory-server")["template"]["spec"]["containers"][0]["ports"]
    assert named("Service", "agent-memory")["ports"][0]["targetPort"] == port["name"]


def test_secrets_are_only_referred_to_and_the_page_names_each() -> None:
    optional = {}
    for template in templates():
        for variable in template["spec"]["containers"][0]["env"]:
            reference = variable["valueFrom"]["secretKeyRef"]
            optional[reference["key"]] = reference.get("optional", False)
    table = "".join(line for line in PAGE.splitlines() if line.startswith("| `"))
    assert set(optional) == set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", table))
    made = set(re.findall(r"--from-literal=([a-z-]+)=", PAGE))
    assert made == {key for key, may_miss in optional.items() if not may_miss}
    compose = yaml.safe_load((DOCKER / "compose.yaml").read_text())
    for service in compose["services"].values():
        for name, value in service["environment"].items():
            assert value.startswith("${") or not re.search("KEY|SECRET|PASSWORD", name)
    assert not re.search(r"^(ENV|ARG).*(KEY|SECRET|PASSWORD|TOKEN)", (DOCKER / "Dockerfile").read_text(), re.MULTILINE)


def test_the_services_of_compose_are_locked_up() -> None:
    services = yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"]
    assert services.keys() == {"database", "worker", "server"}
    for name in ("worker", "server"):
        assert services[name]["read_only"] is True
        assert services[name]["cap_drop"] == ["ALL"]
        assert services[name]["tmpfs"] == ["/tmp"]
        assert services[name]["build"]["target"] == name
    for service in services.values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
    for stage in ("worker", "server"):
        instructions = stages()[stage]
        assert [line for line in instructions if line.startswith("USER")][-1] == "USER 1000"


def test_all_that_the_package_is_built_from_is_given_to_the_build() -> None:
    """A link whose target is ignored ends the build of the image."""
    given = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    links = [path.resolve() for path in (ROOT / "python_client").rglob("*") if path.is_symlink()]
    assert len(links) == 3
    for target in links:
        assert given & {str(path) for path in [target.relative_to(ROOT), *target.relative_to(ROOT).parents]}, target


def stages() -> dict[str, list[str]]:
    """The instructions of each stage of the Dockerfile."""
    text = (DOCKER / "Dockerfile").read_text().replace("\\\n", " ")
    found: dict[str, list[str]] = {}
    stage = "before the first"
    for line in text.splitlines():
        if line.startswith("FROM "):
            stage = line.split()[-1]
        elif line and not line.startswith("#"):
            found.setdefault(stage, []).append(line)
    return found


def listed(stage: str, instruction: str) -> list[str]:
    """The list that an instruction has, such as CMD."""
    [line] = [line for line in stages()[stage] if line.startswith(f"{instruction} ")]
    words: list[str] = json.loads(line[line.index("[") :])
    return words


@pytest.fixture
def noted(tmp_path: Path) -> dict[str, str]:
    """Variables of a process: it notes in the file ``written`` what it opens to write outside of TMPDIR."""
    (tmp_path / "tmp").mkdir()
    (tmp_path / "sitecustomize.py").write_text(f"""
import os, sys
noted = os.open({str(tmp_path / "written")!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def hear(event, args):
    changes = event in ("os.mkdir", "os.rename", "os.remove", "os.symlink")
    if event == "open" and isinstance(args[2], int):
        changes = args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    path = os.path.abspath(os.fsdecode(args[0])) if changes and not isinstance(args[0], int) else ""
    if path and not path.startswith(({str(tmp_path / "tmp")!r}, "/dev/")):
        os.write(noted, (path + chr(10)).encode())
sys.addaudithook(hear)
""")
    return {
        "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}",
        "PYTHONDONTWRITEBYTECODE": "1",  # pip has compiled what is in the image
        "HOME": str(tmp_path / "tmp"),
        "TMPDIR": str(tmp_path / "tmp"),
    }


@pytest.mark.nightly
def test_the_server_of_the_image_serves_and_its_health_is_told(dsn: str, noted: dict[str, str], tmp_path: Path) -> None:
    command, *options = listed("server", "CMD")
    [container] = named("Deployment", "agent-memory-server")["template"]["spec"]["containers"]
    assert container["args"][: len(options) + 1] == [command, *options]
    with pytest.raises(AssertionError, match="neither a key nor tokens"):
        Serving(dsn, *options, command=command, with_mcp=True).__enter__()
    options = container["args"][1:]
    with Serving(dsn, *options, command=command, with_mcp=True, AGENT_MEMORY_API_KEY=KEY, **noted) as serving:
        port = serving.url.rpartition(":")[2]
        interpreter, *rest = listed("server", "HEALTHCHECK")
        check = [sys.executable, *(word.replace("3001", port) for word in rest)]
        assert interpreter == "python"
        assert subprocess.run(check, check=False, capture_output=True).returncode == 0
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            path = container[probe]["httpGet"]["path"]
            with serving.client(None, Host=f"10.0.0.7:{port}") as kubelet:
                assert kubelet.get(path, headers={"Host": f"10.0.0.7:{port}"}).status_code == 200
        serving.stop()
    assert subprocess.run(check, check=False, capture_output=True).returncode != 0
    assert (tmp_path / "written").read_text() == ""


@pytest.mark.nightly
def test_the_worker_the_sweep_and_the_install_of_the_manifests_run(
    dsn: str, db: psycopg.Connection, noted: dict[str, str], tmp_path: Path
) -> None:
    def command(arguments: list[str]) -> list[str]:
        inside = [str(tmp_path / "tmp" / Path(word).name) if word.startswith("/tmp/") else word for word in arguments]
        return [sys.executable, "-m", "agent_memory.cli", *inside]

    there = {**os.environ, **noted, "AGENT_MEMORY_DSN": dsn}
    [worker] = named("Deployment", "agent-memory-worker")["template"]["spec"]["containers"]
    with subprocess.Popen(command(worker["args"]), env=there, stdout=subprocess.DEVNULL) as running:
        db.execute("select memory.add_message('ana', 't', 'user', 'My name is Ana.')")
        [job_id] = db.execute("select memory.extract_memories('ana', 't')").fetchone() or ()
        status = "select status from memory.jobs where job_id = %s"
        try:
            wait_until(lambda: db.execute(status, [job_id]).fetchone() == ("completed",))
            program, *health = worker["livenessProbe"]["exec"]["command"]
            assert program == listed("worker", "ENTRYPOINT")[0]
            subprocess.run(command(health), env=there, check=True)
        finally:
            running.terminate()
        assert running.wait(PATIENCE) == 0
    for template in templates():
        arguments = template["spec"]["containers"][0]["args"]
        if arguments[0] in ("sweep", "install"):
            subprocess.run(command(arguments), env=there, check=True)
    assert (tmp_path / "written").read_text() == ""
    subprocess.run(
        [*command(["worker", "--once", "--health-file"]), str(tmp_path / "elsewhere")], env=there, check=True
    )
    # The file beside, which gets the name when it is complete.
    assert str(tmp_path / ".agent-memory.") in (tmp_path / "written").read_text()
