export type { Embedding, Json, Queryable } from "./caller.js";
export { AgentMemoryError } from "./errors.js";
export * from "./functions.js";
export { Admin, Memory, type MemoryOptions, type Notice } from "./memory.js";
