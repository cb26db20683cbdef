// Checks the arguments that a model gives a tool by the tool's schema, which uses little of what JSON schemas can say.

import type { Json } from "./caller.js";
import { AgentMemoryError } from "./errors.js";

const SCOPE = ["user_id", "agent_id", "thread_id"];
const UUID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;
const MOMENT = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/i;

class Problem extends Error {
  constructor(
    readonly path: string[],
    message: string,
    readonly isExtra = false,
  ) {
    super(message);
  }
}

/**
 * The arguments of a call without those that are null, which means left out.
 *
 * Throws an AgentMemoryError where they are not what the tool takes; its hint lists what the tool takes.
 */
export function checked(tool: string, schema: Json, args: Json): Record<string, Json> {
  try {
    let given = args ?? {};
    if (typeof given === "string") {
      try {
        given = JSON.parse(given || "{}");
      } catch {
        throw new Problem([], "invalid JSON");
      }
    }
    return valued(given, schema, [], schema.$defs ?? {}) as Record<string, Json>;
  } catch (error) {
    if (!(error instanceof Problem)) {
      throw error;
    }
    const required: string[] = schema.required ?? [];
    const names = Object.keys(schema.properties).map((name) => (required.includes(name) ? name : `${name}?`));
    const takes = `${tool}() takes: ${names.join(", ") || "nothing"} (? marks what may be left out).`;
    const name = error.path.join(".") || "arguments";
    const isFixed = error.isExtra && SCOPE.includes(name);
    const hint = isFixed ? `${name} is fixed, and the tool works for it already. ${takes}` : takes;
    throw new AgentMemoryError({ message: `${name}: ${error.message}`, hint, code: "22023" });
  }
}

function valued(value: Json, schema: Json, path: string[], definitions: Json): Json {
  if (schema.$ref !== undefined) {
    return valued(value, definitions[schema.$ref.split("/").at(-1)], path, definitions);
  }
  switch (schema.type) {
    case "object":
      return objectOf(value, schema, path, definitions);
    case "array":
      if (!Array.isArray(value)) {
        throw new Problem(path, "input should be a valid list");
      }
      return value.map((item, place) => valued(item, schema.items, [...path, String(place)], definitions));
    case "integer":
    case "number":
      return numberOf(value, path, schema.type === "integer");
    default:
      return textOf(value, schema, path);
  }
}

function objectOf(value: Json, schema: Json, path: string[], definitions: Json): Record<string, Json> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Problem(path, "input should be an object");
  }
  const required: string[] = schema.required ?? [];
  const found: Record<string, Json> = {};
  for (const [name, part] of Object.entries<Json>(schema.properties)) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    if (given === undefined && required.includes(name)) {
      throw new Problem([...path, name], "is missing");
    }
    if (given !== undefined && (given !== null || required.includes(name))) {
      found[name] = valued(given, part, [...path, name], definitions);
    }
  }
  const extra = Object.keys(value).find((name) => !Object.hasOwn(schema.properties, name));
  if (extra !== undefined) {
    throw new Problem([...path, extra], "there is no such argument", true);
  }
  return found;
}

function numberOf(value: Json, path: string[], isWhole: boolean): number {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number) || (isWhole && !Number.isInteger(number))) {
    throw new Problem(path, `input should be a valid ${isWhole ? "integer" : "number"}`);
  }
  return number;
}

function textOf(value: Json, schema: Json, path: string[]): string {
  if (typeof value !== "string") {
    throw new Problem(path, "input should be a valid string");
  }
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    throw new Problem(path, `input should be ${schema.enum.map((each: string) => `'${each}'`).join(" or ")}`);
  }
  if (schema.format === "uuid" && !UUID.test(value)) {
    throw new Problem(path, "input should be a valid UUID");
  }
  if (schema.format === "date-time" && !(MOMENT.test(value) && Number.isFinite(Date.parse(value)))) {
    throw new Problem(path, "input should be a time with time zone");
  }
  return value;
}
