import type { BeaconConfig } from "@lodestar/config";
import type { ForkPostBellatrix } from "@lodestar/params";
import type { bellatrix, electra, RootHex, SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import {
  EngineUnavailableError,
  type ExecutionEngine,
  NoExecutionEngine,
  type PayloadVerdict,
  versionedHashesOf,
} from "../../execution/engine.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoiceExecution } from "../fork-choice/types.ts";
import type { ChainSettings } from "../settings.ts";
import type { ReadBlock } from "./apply-block.ts";
import { BlockRejection, InvalidPayloadRejection } from "./block-rejection.ts";
import { mayMergeAt } from "./terminal-block-hash.ts";

const PRE_MERGE: ForkChoiceExecution = { status: "pre-merge" };

/** Determines the payload status of a block. Rejects with a `BlockRejection` if the block cannot be imported. */
export type VerifyPayload = (
  signed: SignedBeaconBlock,
  read: Pick<ReadBlock, "hasPayload" | "isMergeTransition">,
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
  return async (signed, { hasPayload, isMergeTransition }) => {
    if (!hasPayload) return PRE_MERGE;
    refuseEmptyTransactions(signed);
    try {
      if (!isMergeTransition) return executionOf(signed, await requestPayloadVerdict(signed, config, engine));
      // The payload is verified concurrently. An invalid terminal block takes precedence, because it violates a
      // consensus rule.
      const verdict = requestPayloadVerdict(signed, config, engine);
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

/** Verifier for stored blocks without a payload status: imports them optimistically if the engine has no verdict. */
export function trustingPayloadVerifier({
  config,
  engine,
}: Pick<PayloadVerifierParts, "config" | "engine">): VerifyPayload {
  return async (signed, { hasPayload }) => {
    if (!hasPayload) return PRE_MERGE;
    return executionOf(
      signed,
      await requestPayloadVerdict(signed, config, engine).catch(() => ({ status: "optimistic" as const })),
    );
  };
}

export function requestPayloadVerdict(
  { message }: Pick<SignedBeaconBlock, "message">,
  config: BeaconConfig,
  engine: Pick<ExecutionEngine, "notifyNewPayload">,
): Promise<PayloadVerdict> {
  const body = message.body as electra.BeaconBlockBody;
  return engine.notifyNewPayload(config.getForkName(message.slot) as ForkPostBellatrix, body.executionPayload, {
    parentBeaconBlockRoot: message.parentRoot,
    executionRequests: body.executionRequests,
    versionedHashes: versionedHashesOf(body.blobKzgCommitments ?? []),
  });
}

function executionOf({ message }: SignedBeaconBlock, verdict: PayloadVerdict): ForkChoiceExecution {
  if (verdict.status === "invalid") {
    throw new InvalidPayloadRejection(
      `The execution engine rejected the payload of the block at slot ${message.slot}: ${verdict.message}`,
      { parentRoot: toRootHex(message.parentRoot), latestValidHash: verdict.latestValidHash },
    );
  }
  const { blockHash, blockNumber } = (message.body as bellatrix.BeaconBlockBody).executionPayload;
  return { status: verdict.status, blockHash: toRootHex(blockHash), blockNumber };
}

function optimistic(execution: ForkChoiceExecution): ForkChoiceExecution {
  return "blockHash" in execution ? { ...execution, status: "optimistic" } : execution;
}

/** bellatrix/beacon-chain.md, verify_and_notify_new_payload: transactions must not be empty. */
function refuseEmptyTransactions({ message }: SignedBeaconBlock): void {
  const { transactions } = (message.body as bellatrix.BeaconBlockBody).executionPayload;
  const empty = transactions.findIndex((transaction) => transaction.length === 0);
  if (empty === -1) return;
  throw new BlockRejection(
    "invalid-transition",
    `Transaction ${empty} in the payload of the block at slot ${message.slot} is empty.`,
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
