// Memory as tools of a model, for one user that the application names: their definitions as JSON schemas, and what
// executes the calls. The tools are those of the Python client and of MCP.

import { AgentMemoryError } from "./errors.js";
import type { Json } from "./caller.js";
import type { Memory, Notice } from "./memory.js";
import { checked } from "./tool-arguments.js";
import { SOURCES, TOOLS, type ToolName } from "./tool-definitions.js";

export { TOOLS, type ToolName };

/** A tool: its arguments and its result as JSON schemas, and how it calls a method of Memory. */
export interface ToolDefinition {
  title: string;
  description: string;
  method: string;
  effect: string;
  /** Whether models are shown the tool unless it is asked for by name. */
  isListed: boolean;
  sentAs: Record<string, string>;
  scoped: string[];
  fixed: Record<string, Json>;
  absentHint: string | null;
  parameters: Json;
  result: Json;
}

/** For whom tools work; no argument of a tool reaches beyond it. */
export interface ToolOptions {
  userId: string;
  /** The agent that what is stored belongs to, and that searches are about; all agents by default. */
  agentId?: string;
  /** The conversation that is going on. */
  threadId?: string;
  /** Which tools there are; all by default, of which a model is shown those of LISTED. */
  names?: string[];
}

/** The form of OpenAI's requests. */
export interface FormOptions {
  api?: "chat" | "responses";
  strict?: boolean;
}

/** The tools that models are shown. */
export const LISTED = (Object.keys(TOOLS) as ToolName[]).filter((name) => TOOLS[name].isListed);

/** The errors that a model can mend, or has to live with. All others are the application's. */
const TOLD = /^(22...|P0002|23505|54000|40...|55P03|AM002|AM003)$/;
const CONVERSATION = "conversation";
const PAGE_TOKENS = TOOLS.retrieve_memory.fixed["maxTokens"] as number;
const BY_WORDS =
  "Only words were compared, not meanings, so what says the same in other words is missing: search again with other " +
  "words before you conclude that nothing is stored.";
const NOTES: Record<string, string> = {
  "01AM1": BY_WORDS,
  "01AM2": BY_WORDS,
  "01AM3": BY_WORDS,
  "01AM4": "Earlier conversations were compared by words only: call search if something from them is missing.",
  "01AM5": "The results are in a less exact order than usual.",
  "01AM6": "Something did not fit into the budget: raise max_tokens if something is missing.",
  "01AM7": "Of texts that were stored a moment ago, not all words were compared.",
};

/** Tools as the argument tools of an OpenAI request; of other APIs too, whose form is this one. */
export function openaiTools(names: string[] = LISTED, { api = "chat", strict = false }: FormOptions = {}): Json[] {
  if (api !== "chat" && api !== "responses") {
    throw invalid(`api: unknown value "${String(api)}"`, "Use chat or responses.");
  }
  return names.map((name) => {
    const { description, parameters: lenient } = toolNamed(name, Object.keys(TOOLS));
    const parameters = structuredClone(strict ? strictly(lenient) : lenient);
    const called = { name, description, parameters, strict };
    return api === "chat" ? { type: "function", function: called } : { type: "function", ...called };
  });
}

/** Call one tool for one user and return its result; see MemoryTools.call. */
export function executeTool(memory: Memory, options: ToolOptions, name: string, args?: Json): Promise<Json> {
  return new MemoryTools(memory, options).call(name, args);
}

/** Tools for a model: definitions() is what the model gets, execute(call) answers its calls. */
export class MemoryTools {
  private readonly names: string[];
  private readonly shown: string[];

  constructor(
    private readonly memory: Memory,
    private readonly options: ToolOptions,
  ) {
    if (typeof options.userId !== "string" || options.userId.trim() === "") {
      throw invalid("user_id: must not be empty", "Name the user that the tools work for.");
    }
    this.names = options.names ?? Object.keys(TOOLS);
    this.names.forEach((name) => toolNamed(name, Object.keys(TOOLS)));
    this.shown = options.names ?? LISTED;
  }

  /** Whether a tool of this name is in the box, for applications that have other tools, too. */
  has(name: string): boolean {
    return this.names.includes(name);
  }

  /** The tools as the argument tools of an OpenAI request; see openaiTools. */
  definitions(form: FormOptions = {}): Json[] {
    return openaiTools(this.shown, form);
  }

  /** Call a tool and return its result. The arguments are an object or its JSON. */
  async call(name: string, args?: Json): Promise<Json> {
    const tool = toolNamed(name, this.names);
    const given = checked(name, tool.parameters, args);
    const request = requested(name as ToolName, tool, given, this.options);
    try {
      const { result, notices } = await this.memory.heard((memory) =>
        (memory as unknown as Record<string, (args: object) => Promise<Json>>)[tool.method]!(request),
      );
      const answer = ANSWERS[name as ToolName](result, given);
      const note = "note" in tool.result.properties ? noteOf(notices) : undefined;
      return stated(note === undefined ? answer : { ...answer, note });
    } catch (error) {
      throw error instanceof AgentMemoryError ? explained(error, tool) : error;
    }
  }

  /**
   * Execute a tool call of a chat completion, or an item function_call of the Responses API, and return the message
   * that answers it. What the model can mend is an answer, too; the other errors are thrown.
   */
  async execute(call: Json): Promise<Json> {
    const isChat = typeof call?.function === "object" && call.function !== null;
    const { name, arguments: args } = isChat ? call.function : (call ?? {});
    const id = isChat ? call.id : call?.call_id;
    if (name === undefined || args === undefined || id === undefined) {
      throw invalid(
        "call: is no tool call of a chat completion, and no function_call of the Responses API",
        "Pass one of message.tool_calls, or an item of response.output whose type is function_call.",
      );
    }
    const text = await this.call(name, args).then(JSON.stringify, (error: unknown) => {
      if (error instanceof AgentMemoryError && TOLD.test(error.code ?? "")) {
        return `Error: ${error.message}${error.hint === undefined ? "" : `\nHint: ${error.hint}`}`;
      }
      throw error;
    });
    return isChat
      ? { role: "tool", tool_call_id: id, content: text }
      : { type: "function_call_output", call_id: id, output: text };
  }
}

/** A schema as OpenAI's strict mode wants it: every argument is required, and null means left out. */
function strictly(schema: Json): Json {
  const required: string[] = schema.required ?? [];
  const properties = Object.entries<Json>(schema.properties).map(([name, { description, ...part }]) => [
    name,
    required.includes(name) ? { ...part, description } : { anyOf: [part, { type: "null" }], description },
  ]);
  return { ...schema, properties: Object.fromEntries(properties), required: Object.keys(schema.properties) };
}

function invalid(message: string, hint: string): AgentMemoryError {
  return new AgentMemoryError({ message, hint, code: "22023" });
}

function toolNamed(name: string, names: string[]): ToolDefinition {
  if (!names.includes(name)) {
    const listed = names.filter((each) => LISTED.includes(each as ToolName));
    const shown = listed.length > 0 ? listed : names;
    throw invalid(`there is no tool "${name}"`, `The tools are: ${shown.join(", ")}.`);
  }
  return TOOLS[name as ToolName];
}

/** The arguments of the client's method. */
function requested(name: ToolName, tool: ToolDefinition, given: Record<string, Json>, options: ToolOptions): object {
  const sent = Object.fromEntries(
    Object.entries(given).map(([argument, value]) => [tool.sentAs[argument] ?? camel(argument), value]),
  );
  const scope: Record<string, Json> = { agentId: options.agentId, threadId: options.threadId };
  const scoped = Object.fromEntries(tool.scoped.map((each) => [each, scope[each]]));
  const request: Record<string, Json> = { userId: options.userId, ...sent, ...scoped, ...tool.fixed };
  if (name === "search") {
    request["sources"] ??= SOURCES;
  } else if (name === "get_context" || name === "add_messages") {
    request["threadId"] ??= options.threadId;
    if (request["threadId"] === undefined) {
      throw invalid(
        "thread_id: is missing, and no conversation is known to be going on",
        "Pass thread_id; list_threads shows which there are.",
      );
    }
  } else if (name === "search_knowledge_base") {
    const { searchType, ...rest } = request;
    return searchType === undefined ? rest : { ...rest, docTypes: [singular(searchType)] };
  } else if (name === "list_documents" && request["docType"] !== undefined) {
    request["docType"] = singular(request["docType"]);
  }
  return request;
}

/** Document A's tools say conversations, and the documents that it archives have the type conversation. */
function singular(docType: string): string {
  return docType === `${CONVERSATION}s` ? CONVERSATION : docType;
}

function explained(error: AgentMemoryError, tool: ToolDefinition): AgentMemoryError {
  let { message, hint } = error;
  for (const [argument, sent] of Object.entries(tool.sentAs)) {
    message = message.replace(new RegExp(`^${snake(sent)}\\b`), argument);
  }
  if (error.code === "P0002" && tool.absentHint !== null) {
    hint = tool.absentHint;
  }
  return new AgentMemoryError({ message, hint, code: error.code, detail: error.detail });
}

function noteOf(notices: Notice[]): string | undefined {
  const notes = new Set(notices.map(({ code, message }) => NOTES[code ?? ""] ?? `${message}.`));
  return notes.size === 0 ? undefined : [...notes].join(" ");
}

/** What a tool returns for what the client's method has returned. */
const ANSWERS: Record<ToolName, (found: Json, given: Record<string, Json>) => Json> = {
  search: hits,
  search_knowledge_base: hits,
  add_memory: ({ memoryId, inserted }) => ({ memory_id: memoryId, is_new: inserted }),
  update_memory: (version) => ({ version }),
  forget: (forgotten) => ({ forgotten }),
  list_memories: (rows) => ({ memories: rows.map(listedMemory), total_count: rows[0]?.totalCount ?? 0 }),
  get_context: (rows) => ({
    messages: rows.map(({ role, content, source }: Json) => ({ role, content, source })),
    token_count: rows.reduce((sum: number, { tokenCount }: Json) => sum + tokenCount, 0),
  }),
  list_threads: (rows) => ({ threads: rows.map(listedThread), total_count: rows[0]?.totalCount ?? 0 }),
  add_messages: (rows) => ({ first_seq: rows[0]?.seq, last_seq: rows.at(-1)?.seq }),
  store_memory: ({ key, memoryRef, tokenCount }) => ({ memory_key: key, memory_ref: memoryRef, token_count: tokenCount }),
  retrieve_memory: retrieved,
  search_memory: (rows) => ({ results: rows.map(foundText) }),
  memory_files: (text) => ({ text }),
  list_documents: (rows) => ({ documents: rows.map(listedDocument), total_count: rows[0]?.totalCount ?? 0 }),
};

function hits(rows: Json[]): Json {
  return {
    results: rows.map(({ source, id, content, score, threadId, details, validFrom, createdAt }) => ({
      source, id, content, score: rounded(score), thread_id: threadId, title: details?.title,
      date: validFrom ?? createdAt,
    })),
  };
}

function listedMemory({ memoryId, content, memoryType, tags, createdAt, validFrom }: Json): Json {
  return { memory_id: memoryId, content, memory_type: memoryType, tags, created_at: createdAt, valid_from: validFrom };
}

function listedThread({ threadId, title, messageCount, lastAt }: Json): Json {
  return { thread_id: threadId, title, message_count: messageCount, last_at: lastAt };
}

function listedDocument({ documentId, title, docType, namespace, content, updatedAt }: Json): Json {
  const beginning = [...content.slice(0, 600)].slice(0, 300).join("");
  return { document_id: documentId, title, doc_type: docType, namespace, beginning, updated_at: updatedAt };
}

function foundText({ id, content, score, details }: Json): Json {
  const firstLine = content.indexOf("\n"); // it is the placeholder
  return {
    memory_key: id, description: details?.description ?? "", passage: firstLine < 0 ? "" : content.slice(firstLine + 1),
    from_line: details?.from_line, score: rounded(score),
  };
}

function retrieved(found: string, given: Record<string, Json>): Json {
  const part: Json = { memory_key: given["memory_key"], content: found };
  // A character that is cut at either end may have cost up to three bytes.
  const isFull = Buffer.byteLength(found) > (PAGE_TOKENS - 1) * 4;
  if (given["words"] !== undefined || !isFull) {
    return part;
  }
  if (given["from_line"] === undefined && given["max_lines"] === undefined) {
    part.next_from_token = (given["from_token"] ?? 0) + PAGE_TOKENS;
  } else if (found.includes("\n")) {
    part.content = found.slice(0, found.lastIndexOf("\n") + 1); // the last line may be cut
    part.next_from_line = (given["from_line"] ?? 1) + part.content.split("\n").length - 1;
  }
  return part;
}

/** A result as JSON has it: times as text, and nothing that is unknown. */
function stated(result: Json): Json {
  return JSON.parse(JSON.stringify(result, (_, value: unknown) => value ?? undefined));
}

function rounded(score: number): number {
  return Math.round(score * 1000) / 1000;
}

function camel(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
