"""The client for TypeScript: its own tests, LangGraph's validation, its README, and what it shares with Python."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import psycopg
import pytest
from agent_memory import Memory
from agent_memory.adapters.langgraph import AgentMemoryStore
from agent_memory.install import install
from agent_memory.tools import TOOLS, openai_tools

from tests.telemetry.collector import Collector
from tests.telemetry.test_processes import run_worker

FOLDER = Path(__file__).resolve().parents[2] / "typescript_client"
BUILT = FOLDER / "dist" / "src" / "index.js"
pytestmark = [
    pytest.mark.feature("F22"),
    pytest.mark.skipif(not BUILT.exists(), reason="the client for TypeScript is not built: make typescript"),
]


def node(dsn: str, *arguments: str | Path, **environment: str) -> str:
    """What a program of node prints; shown in the test where it fails."""
    parts = psycopg.conninfo.conninfo_to_dict(dsn)
    url = f"postgresql://{parts['user']}@localhost/{parts['dbname']}?host={parts['host']}&port={parts['port']}"
    done = subprocess.run(
        [str(argument) for argument in arguments],
        cwd=FOLDER,
        env={**os.environ, "AGENT_MEMORY_TEST_DSN": url, "DATABASE_URL": url, "NO_COLOR": "1", **environment},
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def test_its_own_tests(dsn: str) -> None:
    printed = node(dsn, "node", "--test", *sorted((FOLDER / "dist" / "test").glob("*.test.js")))
    passed, skipped = (int(re.findall(rf"^# {word} (\d+)$", printed, re.MULTILINE)[0]) for word in ("pass", "skipped"))
    sources = [file.read_text(encoding="utf-8") for file in (FOLDER / "test").glob("*.test.ts")]
    written = sum(len(re.findall(r"^test\(", source, re.MULTILINE)) for source in sources)
    assert skipped <= 1
    assert passed + skipped == written


def test_langgraph_s_validation_of_checkpointers(dsn: str) -> None:
    printed = node(dsn, "npx", "vitest", "run", "--globals", "dist/test/saver.spec.js")
    passed = re.findall(r"Tests +(\d+) passed \((\d+)\)", printed)
    assert passed, printed
    assert int(passed[0][0]) >= 718


def test_an_item_that_python_has_put_is_found_and_changed(dsn: str, tmp_path: Path) -> None:
    keys = ["tea", "ü 'x' \"y\" 🍵", "k" * 300]
    with Memory(dsn) as memory:
        store = AgentMemoryStore(memory, "ana")
        for key in keys:
            store.put(("users", "ana"), key, {"text": "Likes tea", "n": 1})
        program = tmp_path / "items.mjs"
        program.write_text(
            f"""
            import {{ Memory }} from "{FOLDER}/dist/src/index.js";
            import {{ AgentMemoryStore }} from "{FOLDER}/dist/src/langgraph.js";
            const memory = new Memory(process.env.DATABASE_URL);
            const store = new AgentMemoryStore(memory, {{ userId: "ana" }});
            const keys = {json.dumps(keys)};
            for (const key of keys) {{
              const item = await store.get(["users", "ana"], key);
              await store.put(["users", "ana"], key, {{ ...item.value, n: item.value.n + 1 }});
            }}
            await memory.close();
            """,
            encoding="utf-8",
        )
        node(dsn, "node", program)
        items = store.search(("users",), limit=10)
        assert sorted(item.value["n"] for item in items) == [2, 2, 2]


@pytest.mark.feature("F33")
def test_an_installation_in_another_schema_is_used(empty_dsn: str, tmp_path: Path) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        install(connection, "app_memory")
    program = tmp_path / "schema.mjs"
    program.write_text(
        f"""
        import {{ Memory }} from "{FOLDER}/dist/src/index.js";
        const memory = new Memory(process.env.DATABASE_URL, {{ schema: "app_memory", onNotice: () => undefined }});
        await memory.addMessage({{ userId: "ana", threadId: "t", role: "user", content: "I like tea" }});
        const {{ result }} = await memory.heard((inside) => inside.search({{ userId: "ana", query: "tea" }}));
        console.log(result[0].content, (await memory.admin.doctor()).length > 0);
        await memory.close();
        try {{
          new Memory(process.env.DATABASE_URL, {{ schema: 'a"b' }});
        }} catch (error) {{
          console.log(error.argument);
        }}
        """,
        encoding="utf-8",
    )
    assert node(empty_dsn, "node", program).split("\n")[:2] == ["I like tea true", "schema"]


def test_the_tools_are_those_of_python(dsn: str, tmp_path: Path) -> None:
    program = tmp_path / "tools.mjs"
    program.write_text(
        f"""
        import {{ openaiTools, TOOLS }} from "{FOLDER}/dist/src/tools.js";
        const all = Object.keys(TOOLS);
        const forms = [{{}}, {{ strict: true }}, {{ api: "responses" }}, {{ api: "responses", strict: true }}];
        const results = Object.fromEntries(all.map((name) => [name, TOOLS[name].result]));
        console.log(JSON.stringify([openaiTools(), ...forms.map((form) => openaiTools(all, form)), results]));
        """,
        encoding="utf-8",
    )
    listed, *forms, results = json.loads(node(dsn, "node", program))
    assert listed == openai_tools()
    assert forms == [
        openai_tools(TOOLS, api=api, strict=strict) for api in ("chat", "responses") for strict in (False, True)
    ]
    assert results == {name: tool.result_schema() for name, tool in TOOLS.items()}


def program_that_asks_for_a_job(folder: Path, before: str) -> Path:
    """A program that asks for a job within what `before` defines as `within`."""
    program = folder / "traced.mjs"
    program.write_text(
        f"""
        {before}
        const {{ Memory }} = await import("{FOLDER}/dist/src/index.js");
        const memory = new Memory(process.env.DATABASE_URL);
        const thread = {{ userId: "ana", threadId: "t" }};
        await memory.addMessage({{ ...thread, role: "user", content: "My name is Ana." }});
        await within(() => memory.extractMemories(thread));
        await memory.close();
        """,
        encoding="utf-8",
    )
    return program


@pytest.mark.feature("F23")
def test_the_span_of_a_job_is_linked_to_the_span_of_its_caller(dsn: str, tmp_path: Path) -> None:
    packages = FOLDER / "node_modules" / "@opentelemetry"
    ids = node(
        dsn,
        "node",
        program_that_asks_for_a_job(
            tmp_path,
            f"""
            import {{ createRequire }} from "node:module";
            const installed = createRequire("{packages}/");
            const {{ context }} = installed("@opentelemetry/api");
            const {{ AsyncLocalStorageContextManager }} = installed("@opentelemetry/context-async-hooks");
            const {{ BasicTracerProvider }} = installed("@opentelemetry/sdk-trace-base");
            context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
            const within = (work) => new BasicTracerProvider().getTracer("app").startActiveSpan("turn", (span) => {{
              console.log(span.spanContext().traceId, span.spanContext().spanId);
              return work();
            }});
            """,
        ),
    ).split()
    with Collector() as collector:
        done = run_worker(dsn, **collector.environment)
        assert done.returncode == 0, done.stderr
        [job] = collector.spans("job extract_memories")
    [link] = job.links
    assert [link.trace_id.hex(), link.span_id.hex()] == ids


def test_the_package_has_what_it_exports(tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("there is no npm")
    [packed] = json.loads(
        subprocess.run(["npm", "pack", "--dry-run", "--json", "--ignore-scripts"], cwd=FOLDER, capture_output=True,
                       text=True, check=True, env={**os.environ, "npm_config_cache": str(tmp_path)}).stdout
    )  # fmt: skip
    names = {file["path"] for file in packed["files"]}
    assert {
        "README.md",
        "LICENSE",
        *(
            f"dist/{kind}/{module}.{ending}"
            for kind in ("src", "cjs")
            for module in ("index", "langgraph", "ai-sdk", "tools")
            for ending in ("js", "d.ts")
        ),
    } <= names
    assert (FOLDER / "LICENSE").read_text() == (FOLDER.parent / "LICENSE").read_text()
    assert not any("test" in name for name in names)
