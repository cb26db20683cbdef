import assert from "node:assert/strict";
import { after, test } from "node:test";

import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { AlwaysOffSampler, BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import pg from "pg";

import { Memory } from "../src/index.js";

const dsn = process.env.AGENT_MEMORY_TEST_DSN!;
const memory = new Memory(dsn);
const pool = new pg.Pool({ connectionString: dsn });
after(async () => {
  await memory.close();
  await pool.end();
});

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
const tracer = new BasicTracerProvider().getTracer("test");

let users = 0;
const user = (): string => `traced ${process.pid} ${(users += 1)}`;

/** Ask for a job, and return the trace that it carries. */
async function carried(asking: Memory, userId: string, client: pg.Pool | pg.PoolClient = pool): Promise<string | null> {
  await asking.summarizeUser({ userId });
  const { rows } = await client.query("select request ->> 'traceparent' as trace from memory.jobs where user_id = $1", [userId]);
  assert.equal(rows.length, 1);
  return rows[0].trace;
}

/** Do work in a span, and return the work's result and the traceparent of the span. */
async function within<Result>(work: () => Promise<Result>): Promise<[Result, string]> {
  return tracer.startActiveSpan("caller", async (span): Promise<[Result, string]> => {
    try {
      const { traceId, spanId } = span.spanContext();
      return [await work(), `00-${traceId}-${spanId}-01`];
    } finally {
      span.end();
    }
  });
}

async function someone(): Promise<string> {
  const userId = user();
  await memory.addMemory({ userId, content: "Keeps bees" });
  return userId;
}

test("a job carries the trace of the span that is active", async () => {
  const userId = await someone();
  const [trace, expected] = await within(() => carried(memory, userId));
  assert.equal(trace, expected);
});

test("without a span, and in one that is not recorded, a job carries none", async () => {
  assert.equal(await carried(memory, await someone()), null);
  const silent = new BasicTracerProvider({ sampler: new AlwaysOffSampler() }).getTracer("silent");
  const userId = await someone();
  assert.equal(await silent.startActiveSpan("caller", () => carried(memory, userId)), null);
});

test("results and errors are those of a call without a trace", async () => {
  const userId = await someone();
  const listed = await memory.listMemories({ userId });
  assert.deepEqual((await within(() => memory.listMemories({ userId })))[0], listed);
  assert.equal(typeof (await within(() => memory.version()))[0], "string");
  await assert.rejects(within(() => memory.listMemories({ userId: null as never })), { code: "22023", argument: "user_id" });
});

test("in a transaction the trace is that of its call only", async () => {
  const [first, second] = [await someone(), await someone()];
  const client = await pool.connect();
  const inside = new Memory(client);
  try {
    await client.query("begin");
    const [trace, expected] = await within(() => carried(inside, first, client));
    assert.equal(trace, expected);
    assert.equal(await carried(inside, second, client), null);
    await client.query("rollback");
  } finally {
    await inside.close();
    client.release();
  }
});
