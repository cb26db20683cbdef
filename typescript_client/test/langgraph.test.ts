import assert from "node:assert/strict";
import { after, test } from "node:test";

import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";

import { Memory } from "../src/index.js";
import { AgentMemorySaver, AgentMemoryStore } from "../src/langgraph.js";

const memory = new Memory(process.env.AGENT_MEMORY_TEST_DSN!, { onNotice: () => undefined });
after(() => memory.close());

let users = 0;
const opened = (): AgentMemoryStore => new AgentMemoryStore(memory, { userId: `store ${process.pid} ${(users += 1)}` });

test("an item is put, read, changed and deleted", async () => {
  const store = opened();
  await store.put(["users", "ana"], "tea", { text: "Likes green tea", rating: 5 });
  const item = await store.get(["users", "ana"], "tea");
  assert.deepEqual([item!.value, item!.namespace, item!.key], [{ text: "Likes green tea", rating: 5 }, ["users", "ana"], "tea"]);
  assert.ok(item!.createdAt instanceof Date && item!.updatedAt instanceof Date);
  await store.put(["users", "ana"], "tea", { text: "Likes black tea" });
  assert.deepEqual((await store.get(["users", "ana"], "tea"))!.value, { text: "Likes black tea" });
  assert.equal((await store.search(["users"])).length, 1);
  await store.delete(["users", "ana"], "tea");
  assert.equal(await store.get(["users", "ana"], "tea"), null);
});

test("items are found by words, filters and operators", async () => {
  const store = opened();
  await store.put(["docs", "a"], "1", { text: "Trains to Porto", price: 20, of: { kind: "rail" } });
  await store.put(["docs", "b"], "2", { text: "Flights to Oslo", price: 90, of: { kind: "air" } });
  await store.put(["notes"], "3", { text: "Trains are late" });
  const keys = async (prefix: string[], options: object): Promise<string[]> =>
    (await store.search(prefix, options)).map(({ key }) => key);
  assert.deepEqual((await keys(["docs"], { query: "trains" }))[0], "1");
  assert.deepEqual(await keys(["docs"], { filter: { price: 90 } }), ["2"]);
  assert.deepEqual(await keys(["docs"], { filter: { price: { $lt: 50 } } }), ["1"]);
  assert.deepEqual(await keys(["docs"], { filter: { of: { kind: "air" } } }), ["2"]);
  assert.deepEqual(await keys(["docs"], { limit: 1, offset: 1 }), ["1"]);
  await assert.rejects(store.search(["docs"], { filter: { price: { $near: 1 } } }), /unknown operator/);
  assert.deepEqual(await store.listNamespaces({}), [["docs", "a"], ["docs", "b"], ["notes"]]);
  assert.deepEqual(await store.listNamespaces({ prefix: ["docs"], maxDepth: 1 }), [["docs"]]);
  assert.deepEqual(await store.listNamespaces({ suffix: ["b"] }), [["docs", "b"]]);
});

test("one user's items are not another's", async () => {
  const [one, other] = [opened(), opened()];
  await one.put(["a"], "k", { text: "secret" });
  assert.equal(await other.get(["a"], "k"), null);
  assert.deepEqual(await other.search([]), []);
});

test("a thread whose id is a number is written, read and listed", async () => {
  const saver = new AgentMemorySaver(memory, { userId: `saver ${process.pid}` });
  const config = { configurable: { thread_id: 7, checkpoint_ns: "" } };
  await saver.put(config, emptyCheckpoint(), { source: "input", step: -1, parents: {} }, {});
  assert.equal((await saver.getTuple(config))!.config.configurable!.thread_id, "7");
  const listed = [];
  for await (const tuple of saver.list(config)) {
    listed.push(tuple.config.configurable!.thread_id);
  }
  assert.deepEqual(listed, ["7"]);
});
