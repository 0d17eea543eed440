import { ForkName } from "@lodestar/params";
import type { RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { EvmEngine } from "../../../../src/evm/engine/evm-engine.ts";
import type { StoredPayload } from "../../../../src/evm/engine/history.ts";
import type { ExecutedBlock } from "../../../../src/evm/execution/block.ts";
import type { PayloadRequest } from "../../../../src/execution/engine.ts";
import { createRecordingLogger } from "../../log/recording-logger.ts";
import { addressOf, optionsOf, SLOT_SECONDS, TestChain } from "../evm.ts";
import { memoryStore } from "./storage/memory-store.ts";

export const ZERO_HASH: RootHex = toRootHex(new Uint8Array(32));
export const FORK = ForkName.fulu;
const NO_KZG = { verify: async () => true };
export const rootOfSlot = (slot: number): Uint8Array => new Uint8Array(32).fill(slot);

type EngineOptions = Pick<ConstructorParameters<typeof EvmEngine>[0], "baseInterval" | "maxBlocks">;

const BASE_INTERVAL = { blocks: 4n, gas: 1_000_000_000n };

/** Engines of one chain. They share its beacon blocks and database. */
export async function openEngines({ baseInterval = BASE_INTERVAL, ...rest }: EngineOptions = {}) {
  const options = { baseInterval, ...rest };
  const chain = await TestChain.open(optionsOf("osaka"));
  const { stored, store, failing } = memoryStore();
  const payloads = new Map<RootHex, StoredPayload>();
  const reads: RootHex[] = [];
  const logger = createRecordingLogger();
  const open = () => {
    const { rules, genesis } = chain;
    const engine = new EvmEngine({ rules, genesis, secondsPerSlot: SLOT_SECONDS, logger, ...options });
    const history = {
      rootOf: async (hash: RootHex) =>
        [...payloads].find(([, { payload }]) => toRootHex(payload.blockHash) === hash)?.[0],
      read: async (root: RootHex) => {
        reads.push(root);
        return payloads.get(root) ?? null;
      },
    };
    engine.connect({ history, store, kzg: NO_KZG });
    return engine;
  };
  const requestOf = (slot: number, parent: ExecutedBlock): PayloadRequest => {
    const parentSlot = Number(parent.header.timestamp - chain.genesis.header.timestamp) / SLOT_SECONDS;
    return {
      fork: FORK,
      slot,
      parent: { blockHash: parent.hash, blockNumber: null },
      parentBeaconBlockRoot: rootOfSlot(parentSlot),
      timestamp: Number(chain.genesis.header.timestamp) + slot * SLOT_SECONDS,
      prevRandao: rootOfSlot(slot),
      feeRecipient: addressOf(1),
      withdrawals: [],
    };
  };
  /** Builds the block of a slot on the head, or on another block, and makes it the head. */
  const build = async (engine: EvmEngine, slot: number, finalized = ZERO_HASH, parent = engine.head) => {
    const request = requestOf(slot, parent);
    const { parentBeaconBlockRoot } = request;
    const state = { headBlockHash: toRootHex(parent.hash), safeBlockHash: ZERO_HASH, finalizedBlockHash: finalized };
    const { payloadId } = await engine.forkchoiceUpdated(FORK, state, request);
    const { payload, executionRequests } = await engine.getPayload(FORK, payloadId!);
    const context = { parentBeaconBlockRoot, versionedHashes: [], executionRequests: executionRequests! };
    payloads.set(toRootHex(rootOfSlot(slot)), { fork: FORK, payload, context });
    const verdict = await engine.notifyNewPayload(FORK, payload, context);
    if (verdict.status !== "valid") throw new Error(JSON.stringify(verdict));
    const headBlockHash = toRootHex(payload.blockHash);
    await engine.forkchoiceUpdated(FORK, { ...state, headBlockHash });
    return headBlockHash;
  };
  return { chain, open, requestOf, build, stored, failing, reads, payloads, logger };
}
