import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";

import pg from "pg";

import { AgentMemoryError, Memory, type Notice } from "../src/index.js";

const dsn = process.env.AGENT_MEMORY_TEST_DSN!;
const memory = new Memory(dsn);
after(() => memory.close());

let users = 0;
const user = (): string => `typescript ${process.pid} ${(users += 1)}`;

test("a conversation is stored and comes back with its types", async () => {
  const userId = user();
  const stored = await memory.addMessage({
    userId, threadId: "t", role: "user", content: "I live in Łódź 🏙", metadata: { tags: ["a"], n: 1 },
    createdAt: new Date("2026-01-02T03:04:05.678Z"),
  });
  assert.deepEqual({ ...stored }, { seq: 0, content: "I live in Łódź 🏙", tokenCount: stored.tokenCount, memoryRef: null });
  const [message] = await memory.getMessages({ userId, threadId: "t" });
  assert.equal(message!.content, "I live in Łódź 🏙");
  assert.deepEqual(message!.metadata, { tags: ["a"], n: 1 });
  assert.deepEqual(message!.createdAt, new Date("2026-01-02T03:04:05.678Z"));
});

test("memories are added, found, changed and deleted", async () => {
  const userId = user();
  const { memoryId, inserted } = await memory.addMemory({ userId, content: "Likes green tea", tags: ["drinks", 'a "b"'] });
  assert.equal(inserted, true);
  const rows = await memory.addMemories({ userId, memories: [{ content: "Likes green tea" }, { content: "Has a dog" }] });
  assert.deepEqual(rows.map((row) => row.inserted), [false, true]);
  const found = await memory.search({ userId, query: "green tea", sources: ["memory"] });
  assert.equal(found[0]!.id, memoryId);
  assert.equal(typeof found[0]!.score, "number");
  assert.equal(await memory.updateMemory({ userId, memoryId: memoryId!, content: "Likes black tea" }), 2);
  const kept = await memory.getMemory({ userId, memoryId: memoryId! });
  assert.deepEqual(kept!.tags, ["drinks", 'a "b"']);
  await memory.deleteMemory({ userId, memoryId: memoryId! });
  await assert.rejects(memory.getMemory({ userId, memoryId: memoryId! }), { code: "P0002" });
  assert.deepEqual((await memory.listMemories({ userId })).map(({ content }) => content), ["Has a dog"]);
});

test("calls on a connection belong to its transaction", async () => {
  const userId = user();
  const pool = new pg.Pool({ connectionString: dsn });
  const client = await pool.connect();
  try {
    const inside = new Memory(client);
    await client.query("begin");
    await inside.addMessage({ userId, threadId: "t", role: "user", content: "Hello" });
    assert.equal((await inside.getMessages({ userId, threadId: "t" })).length, 1);
    await client.query("rollback");
    await inside.close();
    assert.deepEqual(await memory.getMessages({ userId, threadId: "t" }), []);
    await client.query("select 1"); // close() has ended nothing that it has not opened
  } finally {
    client.release();
    await pool.end();
  }
});

test("an error names the argument, with a code and a hint", async () => {
  await assert.rejects(
    memory.addMessage({ userId: "", threadId: "t", role: "user", content: "x" }),
    (error: AgentMemoryError) =>
      error instanceof AgentMemoryError && error.code === "22023" && error.argument === "user_id" && error.hint !== undefined,
  );
  await assert.rejects(
    memory.addMessage({ userId: "a", threadId: "t", role: "user", content: "x", colour: "red" } as never),
    /addMessage has no argument colour; it has userId, threadId/,
  );
});

test("a large number comes as a string, and goes back as one", async () => {
  const userId = user();
  const { seq } = await memory.addMessage({ userId, threadId: "t", role: "user", content: "x" });
  const pool = new pg.Pool({ connectionString: dsn });
  await pool.query("update memory.threads set next_seq = 9007199254740995 where user_id = $1", [userId]);
  await pool.end();
  const next = await memory.addMessage({ userId, threadId: "t", role: "user", content: "y" });
  assert.deepEqual([seq, next.seq], [0, "9007199254740995"]);
  assert.equal((await memory.getMessages({ userId, threadId: "t", afterSeq: next.seq })).length, 0);
  assert.equal(await memory.deleteMessage({ userId, threadId: "t", seq: next.seq! }), true);
});

test("administration is on memory.admin", async () => {
  const policy = await memory.admin.setPolicy({ settings: { summary: { window_size: 20 } }, userId: user() });
  assert.equal(policy.summary.window_size, 20);
  assert.equal(typeof (await memory.version()), "string");
  assert.ok(Array.isArray(await memory.admin.doctor()));
  assert.equal("setPolicy" in memory, false);
  assert.equal("claimJobs" in memory || "claimJobs" in memory.admin, false);
});

test("a query is embedded here where the server cannot, and a failure is a notice", async (context) => {
  const extensions = new pg.Pool({ connectionString: dsn });
  const { rowCount } = await extensions.query("select from pg_extension where extname = 'plpython3u'");
  await extensions.end();
  if (rowCount === 1) {
    context.skip("the server embeds by itself");
    return;
  }
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ data: [{ embedding: [1, 0, 0] }], usage: { prompt_tokens: 2 } }));
    request.resume();
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  const pool = new pg.Pool({ connectionString: dsn, max: 1 });
  const notices: Notice[] = [];
  const client = new Memory(pool, { onNotice: (notice) => notices.push(notice) });
  const userId = user();
  try {
    await client.admin.registerModel({
      name: "typescript", kind: "embedding", provider: "openai", model: "e",
      settings: { base_url: `http://127.0.0.1:${port}/v1`, dimensions: 3, api_key_env: "OPENAI_API_KEY" },
    });
    await client.admin.activateModel({ name: "typescript" });
    await client.addMemory({ userId, content: "Likes tea" });
    await client.search({ userId, query: "drinks" });
    const [{ kept }] = (await pool.query("select count(*)::int as kept from memory.query_embeddings")).rows;
    assert.ok(asked >= 1 && kept >= 1, `asked ${asked}, kept ${kept}`);
    server.close();
    server.closeAllConnections();
    assert.equal((await client.search({ userId, query: "tea, another time" })).length, 1);
    assert.ok(notices.every(({ code }) => code?.startsWith("01AM")) && notices.length > 0, JSON.stringify(notices));
  } finally {
    await client.admin.deactivateModel({ name: "typescript" });
    await pool.end();
    server.close();
  }
});
