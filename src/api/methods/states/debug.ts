import { unsupported } from "../../../errors/failure.ts";
import { defineMethod, defineOperation, get } from "../../definition.ts";
import { boolean, list, number, object, shape, text } from "../../schemas.ts";
import { getDebugForkChoice, getDebugForkChoiceV2 } from "./debug-fork-choice.ts";

const getDebugChainHeadsV2 = defineOperation("debug.getDebugChainHeadsV2", {
  number: 46,
  name: "get_v2_debug_beacon_heads",
  summary: "Leaves of the fork choice tree, with their payload status.",
  result: {
    name: "heads",
    schema: list(object({ root: shape("Root"), slot: shape("Uint64"), execution_optimistic: boolean })),
  },
  failures: [],
  rest: [get("/eth/v2/debug/beacon/heads")],
  cost: "cheap",
  access: "debug",
  dependsOn: "head",
  example: {},
  handler: async ({ chain }) => ({
    data: chain.forkChoice.leaves().map(({ root, slot }) => ({
      root,
      slot,
      executionOptimistic: chain.payloads.isOptimistic({ root, slot }),
    })),
  }),
});

const getDebugChainHeads = defineMethod({
  name: "get_v1_debug_beacon_heads",
  summary: "Leaves of the fork choice tree.",
  result: { name: "heads", schema: list(object({ root: shape("Root"), slot: shape("Uint64") })) },
  failures: [],
  rest: [get("/eth/v1/debug/beacon/heads")],
  cost: "cheap",
  access: "debug",
  dependsOn: "head",
  example: {},
  handler: ({ chain }) => chain.forkChoice.leaves().map(({ root, slot }) => ({ root, slot: String(slot) })),
});

const getPendingPromises = defineMethod({
  number: 61,
  name: "debug_getChronosFutures",
  aliases: ["getChronosFutures"],
  summary: "Pending promises of the process. Requires --track-futures.",
  result: {
    name: "futures",
    schema: list(object({ id: text, child_id: text, procname: text, filename: text, line: number, state: text })),
  },
  failures: ["unsupported"],
  rest: [get("/fanal/v1/debug/chronos/futures"), get("/nimbus/v1/debug/chronos/futures")],
  cost: "cheap",
  access: "debug",
  example: {},
  handler({ futures }) {
    if (futures) return futures.pending();
    throw unsupported("Futures are not tracked. Start the node with --track-futures.");
  },
});

export const debugMethods = [
  getDebugChainHeadsV2,
  getDebugChainHeads,
  getDebugForkChoiceV2,
  getDebugForkChoice,
  getPendingPromises,
] as const;
