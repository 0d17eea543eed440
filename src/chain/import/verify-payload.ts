import type { BeaconConfig } from "@lodestar/config";
import type { bellatrix, RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import {
  EngineUnavailableError,
  type ExecutionEngine,
  NoExecutionEngine,
  type PayloadVerdict,
} from "../../execution/engine.ts";
import { blockRoot } from "../blocks/block-encoding.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoiceExecution } from "../fork-choice/types.ts";
import { type NewPayload, payloadInBlock } from "../payloads/new-payload.ts";
import type { PayloadStore } from "../payloads/payload-store.ts";
import type { ChainSettings } from "../settings.ts";
import type { ReadBlock } from "./apply-block.ts";
import { BlockRejection, InvalidPayloadRejection } from "./block-rejection.ts";
import { mayMergeAt } from "./terminal-block-hash.ts";

const PRE_MERGE: ForkChoiceExecution = { status: "pre-merge" };
const ABSENT: ForkChoiceExecution = { status: "absent" };

/** Determines the payload status of a block. Rejects with a `BlockRejection` if the block cannot be imported. */
export type VerifyPayload = (
  signed: SignedBeaconBlock,
  read: Pick<ReadBlock, "hasPayload" | "hasEnvelope" | "isMergeTransition">,
) => Promise<ForkChoiceExecution>;

interface PayloadVerifierParts {
  config: BeaconConfig;
  clock: Pick<Clock, "currentSlot">;
  engine: ExecutionEngine;
  settings: Pick<ChainSettings, "safeSlotsToImportOptimistically">;
}

/** Verifies payloads with the execution engine (bellatrix/beacon-chain.md, verify_and_notify_new_payload). */
export function payloadVerifier(parts: PayloadVerifierParts): VerifyPayload {
  const { config, engine } = parts;
  return async (signed, { hasPayload, hasEnvelope, isMergeTransition }) => {
    if (!hasPayload) return hasEnvelope ? ABSENT : PRE_MERGE;
    const newPayload = payloadInBlock(config, signed);
    refuseEmptyTransactions(signed.message.slot, newPayload);
    try {
      if (!isMergeTransition) return executionOf(signed, await requestPayloadVerdict(newPayload, engine));
      // The payload is verified concurrently. An invalid terminal block takes precedence, because it violates a
      // consensus rule.
      const verdict = requestPayloadVerdict(newPayload, engine);
      verdict.catch(() => undefined);
      const isTerminalKnown = await checkTerminalBlock(signed, parts);
      const execution = executionOf(signed, await verdict);
      return isTerminalKnown ? execution : optimistic(execution);
    } catch (error) {
      if (!(error instanceof EngineUnavailableError)) throw error;
      throw new BlockRejection(
        "engine-unavailable",
        `The payload of the block at slot ${signed.message.slot} cannot be verified now. ${error.message}`,
        error,
      );
    }
  };
}

/** Returns the payload status stored in the database. */
export const knownPayload =
  (known: ForkChoiceExecution): VerifyPayload =>
  async () =>
    known;

interface TrustingVerifierParts extends Pick<PayloadVerifierParts, "config" | "engine"> {
  payloads: Pick<PayloadStore, "payloadOf">;
}

/**
 * Verifier for stored blocks without a payload status: imports them with their stored payload, optimistically if the
 * engine has no verdict. Since gloas, a block whose payload is not stored is imported without it.
 */
export function trustingPayloadVerifier({ config, engine, payloads }: TrustingVerifierParts): VerifyPayload {
  return async (signed, { hasPayload, hasEnvelope }) => {
    if (!hasPayload && !hasEnvelope) return PRE_MERGE;
    const newPayload = await payloads.payloadOf(signed, blockRoot(config, signed.message));
    if (newPayload === null) return ABSENT;
    const verdict = await requestPayloadVerdict(newPayload, engine).catch(() => ({ status: "optimistic" as const }));
    if (!hasEnvelope) return executionOf(signed, verdict);
    const { blockHash, blockNumber } = newPayload.payload;
    return { status: verdict.status, blockHash: toRootHex(blockHash), blockNumber };
  };
}

export function requestPayloadVerdict(
  { fork, payload, context }: NewPayload,
  engine: Pick<ExecutionEngine, "notifyNewPayload">,
): Promise<PayloadVerdict> {
  return engine.notifyNewPayload(fork, payload, context);
}

function executionOf({ message }: SignedBeaconBlock, verdict: PayloadVerdict): ForkChoiceExecution {
  if (verdict.status === "invalid") throw invalidPayload(message.slot, toRootHex(message.parentRoot), verdict);
  const { blockHash, blockNumber } = (message.body as bellatrix.BeaconBlockBody).executionPayload;
  return { status: verdict.status, blockHash: toRootHex(blockHash), blockNumber };
}

function optimistic(execution: ForkChoiceExecution): ForkChoiceExecution {
  return "blockHash" in execution ? { ...execution, status: "optimistic" } : execution;
}

/** @param parentRoot block with the payload that this payload is built on */
export function invalidPayload(
  slot: Slot,
  parentRoot: RootHex,
  { message, latestValidHash }: PayloadVerdict & { status: "invalid" },
): InvalidPayloadRejection {
  return new InvalidPayloadRejection(
    `The execution engine rejected the payload of the block at slot ${slot}: ${message}`,
    { parentRoot, latestValidHash },
  );
}

/** bellatrix/beacon-chain.md, verify_and_notify_new_payload: transactions must not be empty. */
export function refuseEmptyTransactions(slot: Slot, { payload }: NewPayload): void {
  const empty = payload.transactions.findIndex((transaction) => transaction.length === 0);
  if (empty === -1) return;
  throw new BlockRejection(
    "invalid-transition",
    `Transaction ${empty} in the payload of the block at slot ${slot} is empty.`,
  );
}

/**
 * bellatrix/fork-choice.md, validate_merge_block. Returns false if the engine has no verdict but the block may be
 * imported optimistically (sync/optimistic.md, is_optimistic_candidate_block).
 */
async function checkTerminalBlock(
  signed: SignedBeaconBlock,
  { config, clock, engine, settings: { safeSlotsToImportOptimistically: safeSlots } }: PayloadVerifierParts,
): Promise<boolean> {
  const terminal = terminalHashOf(signed);
  const { slot } = signed.message;
  if (!mayMergeAt(config, slot)) {
    throw new BlockRejection(
      "wrong-terminal-block",
      `The block at slot ${slot} has a payload before the terminal block activation epoch ` +
        `${config.TERMINAL_BLOCK_HASH_ACTIVATION_EPOCH}.`,
    );
  }
  const verdict = await engine.judgeTerminalBlock(terminal);
  if (verdict === "terminal") return true;
  if (verdict === "not-terminal") {
    throw new BlockRejection(
      "wrong-terminal-block",
      `The parent ${terminal} of the merge transition block is not a valid terminal PoW block.`,
    );
  }
  // The rule protects validators. A node without an engine has no signing validators.
  if (engine instanceof NoExecutionEngine) return false;
  if (slot + safeSlots <= clock.currentSlot) return false;
  throw new BlockRejection(
    "unknown-terminal-block",
    `The execution engine does not know the terminal PoW block ${terminal} of the merge transition block.`,
  );
}

/** Returns the parent hash of a payload; for the merge transition block, the terminal PoW block. */
export function terminalHashOf({ message }: SignedBeaconBlock): RootHex {
  return toRootHex((message.body as bellatrix.BeaconBlockBody).executionPayload.parentHash);
}
