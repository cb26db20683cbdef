// One call of one function: its statement, the types of arguments and results, and the trace that it carries.

import pg from "pg";

import { AgentMemoryError } from "./errors.js";
import { FUNCTIONS, type FunctionName } from "./functions.js";

/** A value of JSON. */
export type Json = any;

/** An embedding: numbers in an array of any kind. */
export type Embedding = number[] | Float32Array | Float64Array;

/** What a client calls: a pool, or one connection with the transaction of the application. */
export type Queryable = pg.Pool | pg.PoolClient | pg.Client;

interface Shape {
  kind: "row" | "rows" | "procedure";
  shape: "columns" | "value";
  arguments: Record<string, string>;
  columns: Record<string, string>;
}

const camel = (name: string): string => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

/** bigint as a number, or as a string where a number would not be exact. */
const whole = (text: string): number | string => (Number.isSafeInteger(Number(text)) ? Number(text) : text);

/** A value of a result of this type of PostgreSQL: pg leaves bigint and vector as text. */
function received(value: unknown, type: string): unknown {
  if (value === null || value === undefined) {
    return null;
  }
  switch (type) {
    case "bigint":
      return whole(String(value));
    case "bigint[]":
      return (value as string[]).map(whole);
    case "vector":
      return JSON.parse(String(value)) as number[];
    case "void":
      return undefined;
    default:
      return value;
  }
}

function sent(value: unknown, type: string): unknown {
  if (value === null) {
    return null;
  }
  switch (type) {
    case "jsonb":
      return JSON.stringify(value);
    case "vector":
      return typeof value === "string" ? value : `[${Array.from(value as ArrayLike<number>).join(",")}]`;
    case "bytea":
      return Buffer.from(value as Uint8Array);
    case "bytea[]":
      return (value as Uint8Array[]).map((bytes) => Buffer.from(bytes));
    case "bigint":
    case "bigint[]":
      return Array.isArray(value) ? value.map(String) : String(value);
    default:
      return value;
  }
}

/** The setting of a transaction whose trace the jobs carry that its calls make due: docs/tracing.md. */
const TRACEPARENT = "agent_memory.traceparent";

/** The API of OpenTelemetry, if the application has it. Bundlers must not look for it. */
const telemetry = import(/* webpackIgnore: true */ "@opentelemetry/api").catch(() => undefined);

/** The traceparent of W3C Trace Context for the span that is active here; undefined where none is recorded. */
async function traceparent(): Promise<string | undefined> {
  const span = (await telemetry)?.trace.getActiveSpan();
  if (!span?.isRecording()) {
    return undefined;
  }
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

/** Calls functions of schema memory on a pool or connection. */
export class Caller {
  constructor(readonly connection: Queryable) {}

  /** Call a function with named arguments; those that are undefined are left out, so their defaults hold. */
  async call<Result>(name: FunctionName | ProtocolName, args: object): Promise<Result> {
    const shape: Shape = name in FUNCTIONS ? (FUNCTIONS as Record<string, Shape>)[name]! : PROTOCOL[name as ProtocolName];
    const given: unknown[] = [];
    const known = Object.fromEntries(Object.keys(shape.arguments).map((argument) => [camel(argument), argument]));
    const named = Object.entries(args)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => {
        const argument = known[key];
        if (argument === undefined) {
          throw new TypeError(`${camel(name)} has no argument ${key}; it has ${Object.keys(known).join(", ")}`);
        }
        given.push(sent(value, shape.arguments[argument]!));
        return `"${argument}" => $${given.length}`;
      });
    const carried = await traceparent();
    const user = named.findIndex((each) => each.startsWith('"user_id" => '));
    const carries = carried !== undefined && user >= 0 && shape.kind !== "procedure";
    if (carries) {
      // Arguments are evaluated before the function runs, and the setting holds until the transaction ends.
      given.push(carried);
      named[user] = `"user_id" => case when set_config('${TRACEPARENT}', $${given.length}, true) <> '' then $${user + 1}::text end`;
    }
    const called = `memory."${name}"(${named.join(", ")})`;
    if (shape.kind === "procedure") {
      await this.query(`call ${called}`, given);
      return undefined as Result;
    }
    const rows = await this.query(`select * from ${called}`, given);
    if (carries && !(this.connection instanceof pg.Pool)) {
      // What follows in the application's transaction may be another user's, and has a trace of its own.
      await this.query(`select set_config('${TRACEPARENT}', '', true)`, []);
    }
    const columns = Object.entries(shape.columns);
    const results = rows.map((row) =>
      shape.shape === "value"
        ? received(Object.values(row)[0], columns[0]![1])
        : Object.fromEntries(columns.map(([column, type]) => [camel(column), received(row[column], type)])),
    );
    return (shape.kind === "rows" ? results : (results[0] ?? null)) as Result;
  }

  /** Run a statement; an error of the database becomes an AgentMemoryError. */
  async query(text: string, values: unknown[]): Promise<Record<string, unknown>[]> {
    try {
      return (await this.connection.query(text, values)).rows as Record<string, unknown>[];
    } catch (error) {
      throw error instanceof pg.DatabaseError ? new AgentMemoryError(error) : error;
    }
  }
}

/** What a client calls to embed a query where the server cannot; applications have no use for these. */
const PROTOCOL = {
  query_to_embed: {
    kind: "rows",
    shape: "columns",
    arguments: {
      user_id: "text", query: "text", thread_id: "text", agent_id: "text", is_context: "boolean", probe: "boolean",
    },
    columns: {
      model: "jsonb", text: "text", server_embeds: "boolean", is_read_only: "boolean", has_due_jobs: "boolean",
    },
  },
  keep_query_embedding: {
    kind: "row",
    shape: "value",
    arguments: {
      user_id: "text", query: "text", embedding_model: "jsonb", embedding: "vector", calls: "jsonb", agent_id: "text",
    },
    columns: { keep_query_embedding: "boolean" },
  },
} as const satisfies Record<string, Shape>;

export type ProtocolName = keyof typeof PROTOCOL;
