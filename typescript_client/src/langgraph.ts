// LangGraph.js: a checkpointer and a store in the same schema as the Python client's.

import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  BaseStore,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type GetOperation,
  type Item,
  type ListNamespacesOperation,
  type MatchCondition,
  type Operation,
  type OperationResults,
  type PendingWrite,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
  type SerializerProtocol,
  TASKS,
  WRITES_IDX_MAP,
  getTextAtPath,
  maxChannelVersion,
} from "@langchain/langgraph-checkpoint";
import { createHash } from "node:crypto";

import type { Json } from "./caller.js";
import type { GetCheckpointRow, ListMemoriesRow, SearchRow } from "./functions.js";
import type { Memory } from "./memory.js";

/** Rows that are read at once. */
const PAGE = 100;
/** Items that are read at once where the database cannot choose among them. */
const ITEMS = 1000;

/** Whose checkpoints or items they are: a user, or a function of the configuration or namespace. */
export type User<Of> = string | ((of: Of) => string);

/**
 * A LangGraph checkpointer: the states of graphs are kept under a user and a thread, with the policy's time to live.
 *
 * Values are serialised by LangGraph's serde. forgetUser(), exports and tenants include the checkpoints; nothing of them
 * is recalled.
 */
export class AgentMemorySaver extends BaseCheckpointSaver {
  constructor(
    private readonly memory: Memory,
    private readonly options: { userId: User<RunnableConfig>; serde?: SerializerProtocol },
  ) {
    super(options.serde);
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.thread_id === undefined) {
      return undefined;
    }
    const { threadId, namespace } = place(config);
    const stored = await this.memory.getCheckpoint({
      userId: this.user(config),
      threadId,
      namespace,
      checkpointId: config.configurable?.checkpoint_id as string | undefined,
    });
    return stored === null ? undefined : this.loaded(config, stored);
  }

  override async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const named = config.configurable ?? {};
    let before = options.before?.configurable?.checkpoint_id as string | undefined;
    let left = options.limit ?? Infinity;
    while (left > 0) {
      const wanted = Math.min(left, PAGE);
      const page = await this.memory.listCheckpoints({
        userId: this.user(config),
        threadId: named.thread_id === undefined ? undefined : String(named.thread_id),
        namespace: named.checkpoint_ns as string | undefined,
        checkpointId: named.checkpoint_id as string | undefined,
        filter: options.filter,
        before,
        rowLimit: wanted,
      });
      for (const stored of page.slice(0, left)) {
        yield await this.loaded(config, stored);
      }
      if (page.length < wanted) {
        return;
      }
      left -= page.length;
      before = page.at(-1)!.checkpointId;
    }
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { threadId, namespace } = place(config);
    const changed = Object.entries(checkpoint.channel_values).filter(([name]) => name in newVersions);
    const serialised = await Promise.all(changed.map(([, value]) => this.serde.dumpsTyped(value)));
    await this.memory.putCheckpoint({
      userId: this.user(config),
      threadId,
      checkpointId: checkpoint.id,
      checkpoint: { ...checkpoint, channel_values: {} },
      metadata,
      namespace,
      parentId: config.configurable?.checkpoint_id as string | undefined,
      channels: changed.map(([name]) => name),
      versions: changed.map(([name]) => String(newVersions[name])),
      types: serialised.map(([type]) => type),
      blobs: serialised.map(([, bytes]) => bytes),
    });
    return named(threadId, namespace, checkpoint.id);
  }

  override async putWrites(
    config: RunnableConfig, writes: PendingWrite[], taskId: string, taskPath = "",
  ): Promise<void> {
    const { threadId, namespace } = place(config);
    if (config.configurable?.checkpoint_id === undefined) {
      throw new Error("the configuration has no configurable.checkpoint_id");
    }
    const serialised = await Promise.all(writes.map(([, value]) => this.serde.dumpsTyped(value)));
    await this.memory.putCheckpointWrites({
      userId: this.user(config),
      threadId,
      checkpointId: String(config.configurable.checkpoint_id),
      taskId,
      places: writes.map(([channel], index) => WRITES_IDX_MAP[channel] ?? index),
      channels: writes.map(([channel]) => String(channel)),
      types: serialised.map(([type]) => type),
      blobs: serialised.map(([, bytes]) => bytes),
      namespace,
      taskPath,
    });
  }

  override async deleteThread(threadId: string): Promise<void> {
    await this.memory.deleteCheckpoints({
      userId: this.user({ configurable: { thread_id: threadId } }),
      threadIds: [threadId],
    });
  }

  /**
   * The version after one: the next number, with a random fraction. Two runs that go on from one checkpoint make
   * different values; without the fraction these had one version.
   */
  override getNextVersion(current: number | undefined): number {
    return Math.floor(current ?? 0) + 1 + Math.random();
  }

  private user(config: RunnableConfig): string {
    const { userId } = this.options;
    return typeof userId === "string" ? userId : userId(config);
  }

  private async loaded(config: RunnableConfig, stored: GetCheckpointRow): Promise<CheckpointTuple> {
    // What the Python client says to the database.
    const { blobless_versions: _, ...checkpoint } = stored.checkpoint as unknown as Checkpoint & Record<string, unknown>;
    const loaded = await this.values(stored.types, stored.blobs);
    (stored.channels ?? []).forEach((channel, index) => (checkpoint.channel_values[channel] = loaded[index]));
    const written = await this.values(stored.writeTypes, stored.writeBlobs);
    if (checkpoint.v < 4 && stored.parentId !== null) {
      await this.addSends(config, checkpoint, stored);
    }
    return {
      config: named(stored.threadId, stored.namespace, stored.checkpointId),
      checkpoint,
      metadata: stored.metadata as CheckpointMetadata,
      ...(stored.parentId === null
        ? {}
        : { parentConfig: named(stored.threadId, stored.namespace, stored.parentId) }),
      pendingWrites: (stored.writeTasks ?? []).map((task, index) => [task, stored.writeChannels![index]!, written[index]]),
    };
  }

  private values(types: string[] | null, blobs: Buffer[] | null): Promise<unknown[]> {
    return Promise.all((types ?? []).map((type, index) => this.serde.loadsTyped(type, blobs![index]!)));
  }

  /** Before version 4 of the format, what a step sends to tasks stood among the writes of the checkpoint before. */
  private async addSends(config: RunnableConfig, checkpoint: Checkpoint, stored: GetCheckpointRow): Promise<void> {
    const parent = await this.memory.getCheckpoint({
      userId: this.user(config), threadId: stored.threadId, namespace: stored.namespace, checkpointId: stored.parentId,
    });
    const written = await this.values(parent?.writeTypes ?? null, parent?.writeBlobs ?? null);
    checkpoint.channel_values[TASKS] = written.filter((_, index) => parent!.writeChannels![index] === TASKS);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }
}

function place(config: RunnableConfig): { threadId: string; namespace: string } {
  const { thread_id: threadId, checkpoint_ns: namespace } = config.configurable ?? {};
  if (threadId === undefined) {
    throw new Error("the configuration has no configurable.thread_id");
  }
  return { threadId: String(threadId), namespace: (namespace as string | undefined) ?? "" };
}

function named(threadId: string, namespace: string, checkpointId: string): RunnableConfig {
  return { configurable: { thread_id: threadId, checkpoint_ns: namespace, checkpoint_id: checkpointId } };
}

/**
 * A LangGraph store whose items are memories: found by meaning and words, with a history, and never evicted or merged.
 *
 * The items are those of the Python client's AgentMemoryStore. search() with a query ranks by meaning and words; items
 * that the ranking does not find come last, with a score of 0.
 */
export class AgentMemoryStore extends BaseStore {
  constructor(
    private readonly memory: Memory,
    private readonly options: { userId: User<string[]>; index?: string[] },
  ) {
    super();
  }

  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results: unknown[] = [];
    for (const operation of operations) {
      if ("namespacePrefix" in operation) {
        results.push(await this.found(operation));
      } else if ("value" in operation) {
        results.push(await this.stored(operation));
      } else if ("key" in operation) {
        results.push(await this.read(operation as GetOperation));
      } else {
        results.push(await this.namespaces(operation as ListNamespacesOperation));
      }
    }
    return results as OperationResults<Op>;
  }

  private user(namespace: string[]): string {
    const { userId } = this.options;
    return typeof userId === "string" ? userId : userId(namespace);
  }

  private async read({ namespace, key }: GetOperation): Promise<Item | null> {
    const [row] = await this.memory.listMemories({
      userId: this.user(namespace), agentId: agent(namespace, key), rowLimit: 1,
    });
    return row === undefined ? null : item(row);
  }

  private async stored({ namespace, key, value, index }: PutOperation): Promise<void> {
    const userId = this.user(namespace);
    const agentId = agent(namespace, key);
    const rows = await this.memory.listMemories({ userId, agentId });
    if (value === null) {
      for (const { memoryId } of rows) {
        await this.memory.deleteMemory({ userId, memoryId });
      }
      return;
    }
    const content = searched(namespace, key, value, index === false ? [] : (index ?? this.options.index));
    const metadata = {
      langgraph: {
        namespace,
        under: namespace.map((_, depth) => namespace.slice(0, depth + 1).join(".")),
        key,
        value,
        updated_at: new Date().toISOString(),
      },
    };
    if (rows[0] !== undefined) {
      try {
        await this.memory.updateMemory({ userId, memoryId: rows[0].memoryId, content, metadata });
        return;
      } catch (error) {
        if ((error as { code?: string }).code !== "P0002") { // deleted or expired meanwhile
          throw error;
        }
      }
    }
    await this.memory.addMemory({
      userId, content, agentId, metadata, expiresAt: "infinity", source: "langgraph", onConflict: "replace",
    });
    // Another process may have put the item for the first time as well. All keep the newest.
    for (const { memoryId } of (await this.memory.listMemories({ userId, agentId })).slice(1)) {
      await this.memory.deleteMemory({ userId, memoryId });
    }
  }

  private async found(operation: SearchOperation): Promise<SearchItem[]> {
    const { namespacePrefix, offset = 0, limit = 10 } = operation;
    const items: SearchItem[] = [];
    let passed = 0;
    for await (const [row, score] of this.candidates(this.user(namespacePrefix), operation, offset + limit)) {
      if (items.length === limit) {
        break;
      }
      passed += 1;
      if (passed > offset) {
        items.push(score === undefined ? item(row) : { ...item(row), score });
      }
    }
    return items;
  }

  /** Items with their scores: first those that answer the query, then the newest. */
  private async *candidates(
    userId: string, { namespacePrefix, filter = {}, query }: SearchOperation, wanted: number,
  ): AsyncGenerator<[ListMemoriesRow | SearchRow, number | undefined]> {
    const contained = containment(namespacePrefix, filter);
    const answers = new Set<string>();
    if (query) {
      const isWhole = Object.values(filter).every(isPlain);
      const topK = isWhole ? Math.max(1, Math.min(wanted, ITEMS)) : ITEMS;
      for (const row of await this.memory.search({ userId, query, sources: ["memory"], filter: contained, topK })) {
        answers.add(row.id);
        if (matches(kept(row).value, filter)) {
          yield [row, row.score];
        }
      }
    }
    for await (const row of this.listed(userId, contained)) {
      if (!answers.has(row.memoryId) && matches(kept(row).value, filter)) {
        yield [row, query ? 0 : undefined];
      }
    }
  }

  private async namespaces(operation: ListNamespacesOperation): Promise<string[][]> {
    const conditions = operation.matchConditions ?? [];
    const prefix = conditions.find(({ matchType, path }) => matchType === "prefix" && !path.includes("*"))?.path ?? [];
    const all = new Map<string, string[]>();
    for await (const row of this.listed(this.user(prefix), containment(prefix, {}))) {
      const { namespace } = kept(row);
      if (conditions.every((condition) => isUnder(namespace, condition))) {
        const cut = namespace.slice(0, operation.maxDepth);
        all.set(JSON.stringify(cut), cut);
      }
    }
    return [...all.values()]
      .sort((one, other) => (one.join("\0") < other.join("\0") ? -1 : 1))
      .slice(operation.offset, operation.offset + operation.limit);
  }

  private async *listed(userId: string, filter: Json): AsyncGenerator<ListMemoriesRow> {
    for (let rowOffset = 0; ; rowOffset += ITEMS) {
      const rows = await this.memory.listMemories({ userId, filter, rowLimit: ITEMS, rowOffset });
      yield* rows;
      if (rows.length < ITEMS) {
        return;
      }
    }
  }
}

interface Kept {
  namespace: string[];
  key: string;
  value: Record<string, unknown>;
  updated_at: string;
}

function kept(row: { metadata: Json }): Kept {
  return row.metadata.langgraph as Kept;
}

function item(row: ListMemoriesRow | SearchRow): Item {
  const { namespace, key, value, updated_at } = kept(row);
  return { namespace, key, value, createdAt: row.createdAt, updatedAt: new Date(updated_at) };
}

/** The agent whose only memory is the item, as the Python client names it. */
function agent(namespace: string[], key: string): string {
  const name = `[${[...namespace, key].map((label) => JSON.stringify(label)).join(", ")}]`;
  return [...name].length <= 255 ? name : `langgraph ${createHash("sha256").update(name).digest("hex")}`;
}

/** The text that is searched: the texts at the paths of the index, or all of the value; at least the key. */
function searched(namespace: string[], key: string, value: Record<string, unknown>, paths?: string[]): string {
  const lines = [...(paths === undefined ? linesOf(value, "") : [])];
  const texts =
    paths === undefined
      ? lines.map(([name, text]) => (lines.length === 1 ? text : `${name}: ${text}`))
      : paths.flatMap((path) => getTextAtPath(value, path));
  const content = texts.some((text) => text.trim() !== "") ? texts.join("\n") : `${namespace.join(".")} ${key}`;
  return content.slice(0, 60_000);
}

/** Each text and number in a value with the name of its field. */
function* linesOf(value: unknown, name: string): Generator<[string, string]> {
  if (Array.isArray(value)) {
    for (const member of value) {
      yield* linesOf(member, name);
    }
  } else if (typeof value === "object" && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      yield* linesOf(member, key);
    }
  } else if (value !== null && value !== undefined) {
    yield [name, String(value)];
  }
}

const isPlain = (value: unknown): boolean => ["string", "number", "boolean"].includes(typeof value);

/** The metadata of items under a prefix, with the wanted values that the database can compare. */
function containment(prefix: (string | "*")[], wanted: Record<string, unknown>): Json {
  const plain = Object.fromEntries(Object.entries(wanted).filter(([, value]) => isPlain(value)));
  return {
    langgraph: {
      ...(prefix.length > 0 ? { under: [prefix.join(".")] } : {}),
      ...(Object.keys(plain).length > 0 ? { value: plain } : {}),
    },
  };
}

const OPERATORS: Record<string, (value: any, operand: any) => boolean> = {
  $eq: (value, operand) => same(value, operand),
  $ne: (value, operand) => !same(value, operand),
  $gt: (value, operand) => typeof value === typeof operand && value > operand,
  $gte: (value, operand) => typeof value === typeof operand && value >= operand,
  $lt: (value, operand) => typeof value === typeof operand && value < operand,
  $lte: (value, operand) => typeof value === typeof operand && value <= operand,
};

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Whether a value passes a filter; an object in a filter holds operators, or the value of a part. */
function matches(value: any, wanted: any): boolean {
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted)) {
    return same(value, wanted);
  }
  return Object.entries(wanted).every(([name, part]) => {
    if (!name.startsWith("$")) {
      return typeof value === "object" && value !== null && matches(value[name], part);
    }
    const compare = OPERATORS[name];
    if (compare === undefined) {
      throw new Error(`unknown operator: ${name}; known are ${Object.keys(OPERATORS).join(", ")}`);
    }
    return compare(value, part);
  });
}

function isUnder(namespace: string[], { matchType, path }: MatchCondition): boolean {
  const part = matchType === "prefix" ? namespace.slice(0, path.length) : namespace.slice(-path.length);
  return part.length === path.length && path.every((label, index) => label === "*" || label === part[index]);
}
