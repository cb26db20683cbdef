// One call of one function: its statement, the types of arguments and results, and the trace that it carries.

import { isDate, isUint8Array } from "node:util/types";

import type pg from "pg";

import { AgentMemoryError, translated } from "./errors.js";
import { FUNCTIONS, type FunctionName } from "./functions.js";

/** A value of JSON. */
export type Json = any;

/** An embedding: numbers in an array of any kind. */
export type Embedding = number[] | Float32Array | Float64Array;

/** What a client calls: a pool, or one connection with the transaction of the application. */
export type Queryable = pg.Pool | pg.PoolClient | pg.Client;

/** Whether this is a pool: of any copy of pg, because the application may have another one than this package. */
export const isPool = (connection: Queryable): connection is pg.Pool => "totalCount" in connection;

interface Shape {
  kind: "row" | "rows" | "procedure";
  shape: "columns" | "value";
  /** How many of the arguments, from the first one on, a call must have. */
  required: number;
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

/** What a value of each type of PostgreSQL is here, for errors. Values of others are text. */
const TAKEN: Record<string, string> = {
  boolean: "a boolean",
  smallint: "a whole number",
  integer: "a whole number",
  bigint: "a whole number, a bigint or its digits",
  real: "a number",
  "double precision": "a number",
  numeric: "a number or its digits",
  "timestamp with time zone": "a valid Date or a string",
  jsonb: "a value of JSON",
  bytea: "a Uint8Array",
  vector: "an array of numbers",
};

/** The value as pg is to send it; undefined where it is of a wrong type, which PostgreSQL might read as something else. */
function sentOne(value: unknown, type: string): unknown {
  const isNumber = typeof value === "number" && Number.isFinite(value);
  switch (type) {
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "smallint":
    case "integer":
      return Number.isInteger(value) ? value : undefined;
    case "bigint":
      return typeof value === "bigint" || typeof value === "string" || Number.isInteger(value) ? String(value) : undefined;
    case "real":
    case "double precision":
      return isNumber ? value : undefined;
    case "numeric":
      return isNumber || typeof value === "string" ? value : undefined;
    case "timestamp with time zone":
      return typeof value === "string" || (isDate(value) && !Number.isNaN(value.getTime())) ? value : undefined;
    case "jsonb":
      try {
        return JSON.stringify(value);
      } catch {
        return undefined; // a bigint, or an object that has itself as a part
      }
    case "bytea":
      return isUint8Array(value) ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : undefined;
    case "vector": {
      const numbers = Array.isArray(value) || ArrayBuffer.isView(value) ? Array.from(value as number[]) : [NaN];
      return numbers.every(Number.isFinite) ? `[${numbers.join(",")}]` : undefined;
    }
    default:
      return typeof value === "string" ? value : undefined;
  }
}

/** The value of an argument as pg is to send it. */
function sent(argument: string, value: unknown, type: string): unknown {
  if (value === null) {
    return null;
  }
  const isList = type.endsWith("[]");
  const one = type.replace("[]", "");
  if (isList && !Array.isArray(value)) {
    throw ofWrongType(argument, value, "an array");
  }
  const made = (isList ? (value as unknown[]) : [value]).map((member, place) => {
    const found = sentOne(member, one);
    if (found === undefined) {
      throw ofWrongType(isList ? `${argument}[${place}]` : argument, member, TAKEN[one] ?? "a string");
    }
    return found;
  });
  return isList ? made : made[0];
}

function ofWrongType(argument: string, value: unknown, taken: string): AgentMemoryError {
  const kind = value === null ? "null" : Array.isArray(value) ? "an array" : isDate(value) ? "this Date" : typeof value;
  return refused(`${argument}: must be ${taken}, not ${kind === "number" ? String(value) : kind}`, `Pass ${taken}.`);
}

function refused(message: string, hint: string): AgentMemoryError {
  return new AgentMemoryError({ message, code: "22023", hint, cause: undefined });
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

/** Calls functions of a schema on a pool or connection. */
export class Caller {
  constructor(
    readonly connection: Queryable,
    private readonly schema = "memory",
  ) {
    if (!/^[a-z_][a-z0-9_]{0,39}$/.test(schema)) {
      throw refused(
        `schema: ${JSON.stringify(schema)} cannot be the schema of agent_memory`,
        "It has 1 to 40 small letters, digits and underscores, no digit first.",
      );
    }
  }

  /** Call a function with named arguments; those that are undefined are left out, so their defaults hold. */
  async call<Result>(name: FunctionName | ProtocolName, args: object = {}): Promise<Result> {
    const shape: Shape = name in FUNCTIONS ? (FUNCTIONS as Record<string, Shape>)[name]! : PROTOCOL[name as ProtocolName];
    const values = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
    const names = Object.keys(shape.arguments);
    const unknown = Object.keys(values).find((key) => !names.some((argument) => camel(argument) === key));
    if (unknown !== undefined) {
      throw new TypeError(`${camel(name)} has no argument ${unknown}; it has ${names.map(camel).join(", ")}`);
    }
    const needed = names.slice(0, shape.required);
    const missing = needed.find((argument) => !(camel(argument) in values));
    if (missing !== undefined) {
      throw refused(`${missing}: is missing`, `${camel(name)} needs ${needed.map(camel).join(", ")}.`);
    }
    const asked = names.filter((argument) => camel(argument) in values);
    const given = asked.map((argument) => sent(argument, values[camel(argument)], shape.arguments[argument]!));
    const named = asked.map((argument, place) => `"${argument}" => $${place + 1}`);
    const carried = await traceparent();
    const user = asked.indexOf("user_id");
    const carries = carried !== undefined && user >= 0 && shape.kind !== "procedure";
    if (carries) {
      // Arguments are evaluated before the function runs, and the setting holds until the transaction ends.
      given.push(carried);
      named[user] = `"user_id" => case when set_config('${TRACEPARENT}', $${given.length}, true) <> '' then $${user + 1}::text end`;
    }
    const called = `${this.schema}."${name}"(${named.join(", ")})`;
    if (shape.kind === "procedure") {
      await this.query(`call ${called}`, given, asked);
      return undefined as Result;
    }
    const rows = await this.query(`select * from ${called}`, given, asked);
    if (carries && !isPool(this.connection)) {
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

  /** Run a statement; an error of the database or of the connection to it becomes an AgentMemoryError. */
  private async query(text: string, values: unknown[], names: string[] = []): Promise<Record<string, unknown>[]> {
    try {
      return (await this.connection.query(text, values)).rows as Record<string, unknown>[];
    } catch (error) {
      throw translated(error, names);
    }
  }
}

/** What a client calls to embed a query where the server cannot; applications have no use for these. */
const PROTOCOL = {
  query_to_embed: {
    kind: "rows",
    shape: "columns",
    required: 1,
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
    required: 4,
    arguments: {
      user_id: "text", query: "text", embedding_model: "jsonb", embedding: "vector", calls: "jsonb", agent_id: "text",
    },
    columns: { keep_query_embedding: "boolean" },
  },
} as const satisfies Record<string, Shape>;

export type ProtocolName = keyof typeof PROTOCOL;
