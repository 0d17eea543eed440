import { type ForkName, isForkPostBellatrix, isForkPostGloas } from "@lodestar/params";
import type { CachedBeaconStateBellatrix, CachedBeaconStateGloas } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { fromHex, toHex, toRootHex } from "@lodestar/utils";
import type { BeaconChain } from "../../../chain/chain.ts";
import { invalidParams, unsupported } from "../../../errors/failure.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import { defineMethod, optional, required } from "../../definition.ts";
import { controlOf } from "../../dev-control.ts";
import { quantity, quantityUpTo } from "../../params/quantities.ts";
import { paramSchema } from "../../params/schema.ts";
import { described, isTrue, nothing, number, object, shape, text } from "../../schemas.ts";
import { fromObject, QUANTITY } from "./anvil-forms.ts";
import { DEV_METHOD } from "./dev-method.ts";
import { hexDump } from "./dumps.ts";
import { MAX_SLOTS_PER_CALL } from "./time.ts";

// Methods that act on the whole chain, under the names that Anvil and Hardhat use.

const depth = quantityUpTo(MAX_SLOTS_PER_CALL, `a number of blocks from 0 to ${MAX_SLOTS_PER_CALL}`);
const DONE = { name: "done", schema: nothing };

/** Anvil's names for execution forks, by consensus fork. */
const HARD_FORKS: Partial<Record<ForkName, string>> = {
  bellatrix: "Paris",
  capella: "Shanghai",
  deneb: "Cancun",
  electra: "Prague",
  fulu: "Osaka",
  gloas: "Amsterdam",
};

/** Of block 0 of all dev chains, in wei. */
const GENESIS_BASE_FEE = 1_000_000_000n;

const NO_FORK = { forkUrl: null, forkBlockNumber: null, forkRetryBackoff: null };

const anvilNodeInfo = defineMethod({
  ...DEV_METHOD,
  name: "anvil_nodeInfo",
  summary:
    "Returns the latest execution block in Anvil's format, and the head of the beacon chain in the member `beacon`. Before " +
    "bellatrix, the block number is 0 and its hash is zero.",
  result: {
    name: "info",
    schema: object({
      currentBlockNumber: described(QUANTITY, "Number of the latest execution block."),
      currentBlockTimestamp: described(number, "Its timestamp in Unix seconds."),
      currentBlockHash: described(shape("Root"), "Its hash."),
      hardFork: described(text, "Fork of the execution layer, such as Osaka."),
      transactionOrder: described(text, "Always fees."),
      environment: object({
        baseFee: described(QUANTITY, "Base fee of the block in wei."),
        chainId: described(number, "Chain id."),
        gasLimit: described(QUANTITY, "Gas limit of the block."),
      }),
      forkConfig: described(
        object({ forkUrl: nothing, forkBlockNumber: nothing, forkRetryBackoff: nothing }),
        "All null: the chain is not forked from another one.",
      ),
      beacon: object({
        slot: described(shape("Uint64"), "Slot of the head."),
        root: described(shape("Root"), "Root of the head."),
        fork: described(text, "Fork of the head."),
      }),
    }),
  },
  example: { stage: "control", isShownLater: true },
  async handler(context) {
    controlOf(context);
    const { head, config } = context.chain;
    const fork = config.getForkName(head.slot);
    const { blockNumber, blockHash, timestamp, baseFeePerGas, gasLimit } = await latestBlock(context.chain);
    return {
      currentBlockNumber: quantity(blockNumber),
      currentBlockTimestamp: timestamp,
      currentBlockHash: toRootHex(blockHash),
      hardFork: HARD_FORKS[fork] ?? fork,
      transactionOrder: "fees",
      environment: {
        baseFee: `0x${baseFeePerGas.toString(16)}`,
        chainId: config.DEPOSIT_CHAIN_ID,
        gasLimit: quantity(gasLimit),
      },
      forkConfig: NO_FORK,
      beacon: { slot: String(head.slot), root: head.root, fork },
    };
  },
});

/** Returns the header of the latest execution block; that of block 0 if there was no payload since a gloas genesis. */
async function latestBlock({
  config,
  head,
  headState,
  headNode,
  genesis,
  forkChoice,
  blocks,
  payloadStore,
}: BeaconChain) {
  const fork = config.getForkName(head.slot);
  const none = { ...ssz.bellatrix.ExecutionPayloadHeader.defaultValue(), timestamp: genesis.time };
  if (!isForkPostBellatrix(fork)) return none;
  if (!isForkPostGloas(fork)) return (headState as CachedBeaconStateBellatrix).latestExecutionPayloadHeader;
  const { latestBlockHash: blockHash, latestExecutionPayloadBid: bid } = headState as CachedBeaconStateGloas;
  const block = forkChoice.payloadBlock(headNode);
  const signed = block && (await blocks.signedByRoot(block.root));
  const latest = signed && (await payloadStore.payloadOf(signed, block.root));
  return latest?.payload ?? { ...none, blockHash, gasLimit: Number(bid.gasLimit), baseFeePerGas: GENESIS_BASE_FEE };
}

const anvilReorg = defineMethod({
  ...DEV_METHOD,
  name: "anvil_reorg",
  summary: "Reorganizes the chain like dev_reorg.",
  params: { depth: required(depth, "Number of blocks to replace, at least 1.") },
  // Anvil also accepts transactions to be included in the new blocks. Only an empty list is supported here.
  normalizePositional: (params) => fromObject("depth")(isEmptyList(params[1]) ? params.slice(0, 1) : params),
  result: DONE,
  failures: ["rejected", "unsupported"],
  example: { stage: "control", params: ["0x1"] },
  async handler(context, { depth }, call) {
    if (depth === 0) throw invalidParams("The depth must be at least 1, but 0 was given.");
    await controlOf(context).branches.reorg(depth, call?.signal);
    return null;
  },
});

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

const anvilDumpState = defineMethod({
  ...DEV_METHOD,
  name: "anvil_dumpState",
  aliases: ["hardhat_dumpState"],
  summary: "Dumps the whole chain like dev_dump.",
  result: { name: "state", schema: described(shape("Bytes"), "The dump in hex.") },
  example: { stage: "control" },
  handler: async (context, _, call) => toHex(await controlOf(context).dumps.dump(call?.signal)),
});

const anvilLoadState = defineMethod({
  ...DEV_METHOD,
  name: "anvil_loadState",
  aliases: ["hardhat_loadState"],
  summary: "Replaces the chain with a dump, like dev_load.",
  params: { state: required(hexDump, "Dump returned by anvil_dumpState or dev_dump.") },
  result: { name: "loaded", schema: isTrue },
  failures: ["rejected", "unsupported"],
  takesLargeBody: true,
  example: { stage: "control", params: async (chain) => [await chain.dump()] },
  async handler(context, { state }, call) {
    await controlOf(context).dumps.load(fromHex(state), call?.signal);
    return true;
  },
});

const resetOptions = paramSchema<{ forking: Readonly<Record<string, unknown>> | null }>(
  'an object with no other member than "forking", an object or null',
  {
    type: "object",
    properties: { forking: { anyOf: [{ type: "object" }, { type: "null" }] } },
    additionalProperties: false,
  },
  (value) => {
    if (!isJsonObject(value) || Object.keys(value).some((name) => name !== "forking")) return undefined;
    const { forking = null } = value;
    return forking === null || isJsonObject(forking) ? { forking } : undefined;
  },
);

const anvilReset = defineMethod({
  ...DEV_METHOD,
  name: "anvil_reset",
  aliases: ["hardhat_reset"],
  summary: "Returns the chain to genesis, with its time, pools and settings. Snapshots stay valid.",
  params: { options: optional(resetOptions, "Left out, or `forking` without a URL and a block number.") },
  result: DONE,
  example: { stage: "control" },
  async handler(context, { options }, call) {
    // If viem has no block number, it sends null.
    const settings = Object.entries(options?.forking ?? {}).filter(([, value]) => value !== null);
    if (settings.length > 0) {
      const names = settings.map(([name]) => `"${name}"`).join(" and ");
      throw unsupported(`Forking another chain is not supported. Leave out ${names} to return to genesis.`);
    }
    await controlOf(context).reset(call?.signal);
    return null;
  },
});

/** `anvilReset` comes last because examples run in this order and it returns the chain to genesis. */
export const anvilChainMethods = [anvilNodeInfo, anvilReorg, anvilDumpState, anvilLoadState, anvilReset] as const;
