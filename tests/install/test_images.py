"""The images are built and their containers run, by podman without root on a base image that debootstrap makes.

As root: ``apt-get install podman buildah runc uidmap debootstrap``. Root makes the base and a user for
podman. The base stands for the official image of Python, which needs a registry. The image ``database`` is not built,
because its base has an entry point that Debian does not have.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psycopg
import pytest

from tests.http.steps import KEY
from tests.support.runners import wait_until
from tests.support.servers import ROOT, Server

pytestmark = [pytest.mark.feature("F27"), pytest.mark.nightly, pytest.mark.timeout(1800)]

PROGRAMS = ("podman", "buildah", "runc", "newuidmap", "debootstrap")
PACKAGES = "podman buildah runc uidmap debootstrap"
# The ordinary user who runs podman, with 65,536 users of containers in /etc/subuid, as useradd gives each user.
ENGINE = "agent-memory-engine"
MISSING = [name for name in PROGRAMS if shutil.which(name) is None]
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
PATHS = "/usr/local/python/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# As compose.yaml has it. The limits are numbers, because raising them needs a right that a machine's root may lack.
LOCKED_UP = [
    "--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--network=host",
    "--ulimit=nofile=1024:1024", "--ulimit=nproc=1000:1000",
]  # fmt: skip

Podman = Callable[..., str]


@pytest.fixture(scope="module")
def podman() -> Iterator[Podman]:
    """Run podman as an ordinary user, in whose home are all images and containers; returns what podman prints.

    That home is the folder in which podman runs, with a copy of the sources.
    """
    if MISSING or os.geteuid() != 0:
        pytest.skip(f"needs root, and on Debian: apt-get install {PACKAGES}")
    home = Path(tempfile.mkdtemp(prefix="agent-memory-engine-"))
    subprocess.run(["useradd", "--home-dir", home, "--shell", "/bin/sh", ENGINE], check=True)
    sources = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", home], input=sources, check=True)
    run_folder = home / "run"
    run_folder.mkdir(mode=0o700)
    storage = home / "storage.conf"
    storage.write_text(f'[storage]\ndriver = "overlay"\nrunroot = "{run_folder}/containers"\n')
    subprocess.run(["chown", "-R", f"{ENGINE}:{ENGINE}", home], check=True)
    environment = [
        f"HOME={home}", f"XDG_RUNTIME_DIR={run_folder}", f"CONTAINERS_STORAGE_CONF={storage}",
        f"PATH={os.environ['PATH']}",
    ]  # fmt: skip

    def run(*arguments: str | Path, program: str = "podman") -> str:
        # crun, Debian's default, refuses machines whose cgroups are of both versions.
        runtime = ["--runtime=runc", "--cgroup-manager=cgroupfs"] if program == "podman" else []
        command = ["runuser", "-u", ENGINE, "--", "env", "-i", *environment, program, *runtime, *arguments]
        ended = subprocess.run(command, cwd=home, check=False, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
        return ended.stdout.strip()

    try:
        assert run("info", "--format={{.Host.Security.Rootless}}") == "true"
        yield run
        run("rm", "--all", "--force")
        run("rmi", "--all", "--force")
    finally:
        subprocess.run(["pkill", "-KILL", "-u", ENGINE], check=False)
        subprocess.run(["userdel", ENGINE], check=True)
        shutil.rmtree(home)


@pytest.fixture(scope="module")
def images(podman: Podman, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The images ``worker`` and ``server`` of the Dockerfile."""
    root = tmp_path_factory.mktemp("base") / "root"
    targets = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Origin: Debian"]
    mirror = subprocess.run(targets, check=True, capture_output=True, text=True).stdout.splitlines()[0]
    # Debian 13 has the Python that docker/requirements/ is for.
    include = "--include=python3-venv,ca-certificates"
    subprocess.run(
        ["debootstrap", "--variant=minbase", include, "trixie", root, mirror], check=True, capture_output=True
    )
    subprocess.run(["chroot", root, "python3", "-m", "venv", "/usr/local/python"], check=True)
    shutil.copy(CERTIFICATES, root / CERTIFICATES.removeprefix("/"))
    # The folders of a test run are closed to other users.
    archive = Path(tempfile.mkdtemp()) / "base.tar"
    archive.parent.chmod(0o755)
    subprocess.run(["tar", "-C", root, "-cf", archive, "."], check=True)
    podman("import", f"--change=ENV PIP_CERT={CERTIFICATES}", f"--change=ENV PATH={PATHS}", archive, "localhost/python")
    shutil.rmtree(root.parent)
    shutil.rmtree(archive.parent)
    for target in ("worker", "server"):
        podman(
            "build", "--isolation=chroot", "--network=host", "--layers", "--format=docker", f"--target={target}",
            "--build-arg=PYTHON_IMAGE=localhost/python", f"--tag=localhost/{target}", "--file=docker/Dockerfile", ".",
            program="buildah",
        )  # fmt: skip
    return ["localhost/worker", "localhost/server"]


def test_the_containers_install_work_and_serve(
    podman: Podman, images: list[str], server: Server, empty_dsn: str
) -> None:
    worker, serving = images
    with psycopg.connect(empty_dsn, autocommit=True) as db:
        db.execute("create extension vector")
        there = [f"--volume={server.host}:{server.host}", f"--env=AGENT_MEMORY_DSN={empty_dsn}"]
        assert "Installed agent_memory" in podman("run", "--rm", *LOCKED_UP, *there, worker, "install")
        db.execute("select memory.add_message('ana', 't', 'user', 'My name is Ana.')")
        db.execute("select memory.extract_memories('ana', 't')")
        podman("run", "--rm", *LOCKED_UP, *there, worker, "worker", "--once")
        assert set(db.execute("select status from memory.jobs").fetchall()) == {("completed",)}

        key = f"--env=AGENT_MEMORY_API_KEY={KEY}"
        container = podman("run", "--detach", *LOCKED_UP, *there, key, serving, "serve", "--port", "0")
        wait_until(lambda: "http://" in podman("logs", container))
        address = re.findall(r"http://[0-9.:]*[0-9]", podman("logs", container))[0]
        assert podman("exec", container, "id", "-u") == "1000"
        with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {KEY}"}) as client:
            assert client.get("/healthz").status_code == 200
            found = client.post("/v1/get_messages", json={"user_id": "ana", "thread_id": "t"})
            assert [row["content"] for row in found.json()] == ["My name is Ana."]
        podman("stop", "--time=40", container)
        assert podman("inspect", "--format={{.State.ExitCode}}", container) == "0"
