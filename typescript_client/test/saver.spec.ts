// LangGraph's validation of checkpointers, which needs vitest.
import { validate } from "@langchain/langgraph-checkpoint-validation";

import { Memory } from "../src/index.js";
import { AgentMemorySaver } from "../src/langgraph.js";

const memory = new Memory(process.env.AGENT_MEMORY_TEST_DSN!);
let users = 0;

validate({
  checkpointerName: "AgentMemorySaver",
  createCheckpointer: () => new AgentMemorySaver(memory, { userId: `saver ${process.pid} ${(users += 1)}` }),
  afterAll: () => memory.close(),
});
