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
import { mayMergeAt } from "../terminal-block-hash.ts";
import type { ReadBlock } from "./apply-block.ts";
import { BlockRejection, PayloadRefusal } from "./block-rejection.ts";

/** sync/optimistic.md; a user may choose another number. */
const SAFE_SLOTS_TO_IMPORT_OPTIMISTICALLY = 128;

const PRE_MERGE: ForkChoiceExecution = { status: "pre-merge" };

/** What is known of the payload of a block. Rejects with a `BlockRejection` when the block cannot be imported with it. */
export type VerifyPayload = (
  signed: SignedBeaconBlock,
  read: Pick<ReadBlock, "hasPayload" | "isMergeTransition">,
) => Promise<ForkChoiceExecution>;

interface PayloadVerifierParts {
  config: BeaconConfig;
  clock: Pick<Clock, "currentSlot">;
  engine: ExecutionEngine;
  /** How many slots old the first payload of a chain has to be for the chain to be trusted with it. */
  safeSlotsToImportOptimistically?: number;
}

/** Asks the execution engine about payloads (bellatrix/beacon-chain.md, verify_and_notify_new_payload). */
export function payloadVerifier(parts: PayloadVerifierParts): VerifyPayload {
  const { config, engine } = parts;
  return async (signed, { hasPayload, isMergeTransition }) => {
    if (!hasPayload) return PRE_MERGE;
    refuseEmptyTransactions(signed);
    try {
      if (!isMergeTransition) return executionOf(signed, await askAbout(signed, config, engine));
      // Both are asked at once. What is wrong with the terminal block counts first, as it is a rule of consensus.
      const asked = askAbout(signed, config, engine);
      asked.catch(() => undefined);
      const isTerminalKnown = await checkTerminalBlock(signed, parts);
      const execution = executionOf(signed, await asked);
      return isTerminalKnown ? execution : optimistic(execution);
    } catch (error) {
      if (!(error instanceof EngineUnavailableError)) throw error;
      throw new BlockRejection(
        "engine-unavailable",
        `The payload of the block of slot ${signed.message.slot} cannot be verified now. ${error.message}`,
        error,
      );
    }
  };
}

/** For blocks of our own database, of whose payloads the database tells what was known. */
export const knownPayload =
  (known: ForkChoiceExecution): VerifyPayload =>
  async () =>
    known;

/** For blocks of our own database of which nothing is told: what was not refused before is not refused for the engine's silence. */
export function trustingPayloadVerifier({
  config,
  engine,
}: Pick<PayloadVerifierParts, "config" | "engine">): VerifyPayload {
  return async (signed, { hasPayload }) => {
    if (!hasPayload) return PRE_MERGE;
    return executionOf(signed, await askAbout(signed, config, engine).catch(() => ({ status: "optimistic" as const })));
  };
}

export function askAbout(
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
    throw new PayloadRefusal(
      `The execution engine refuses the payload of the block of slot ${message.slot}: ${verdict.message}`,
      { parentRoot: toRootHex(message.parentRoot), latestValidHash: verdict.latestValidHash },
    );
  }
  const { blockHash, blockNumber } = (message.body as bellatrix.BeaconBlockBody).executionPayload;
  return { status: verdict.status, blockHash: toRootHex(blockHash), blockNumber };
}

function optimistic(execution: ForkChoiceExecution): ForkChoiceExecution {
  return execution.status === "pre-merge" ? execution : { ...execution, status: "optimistic" };
}

/** bellatrix/beacon-chain.md, verify_and_notify_new_payload: no transaction is of no bytes. */
function refuseEmptyTransactions({ message }: SignedBeaconBlock): void {
  const { transactions } = (message.body as bellatrix.BeaconBlockBody).executionPayload;
  const empty = transactions.findIndex((transaction) => transaction.length === 0);
  if (empty === -1) return;
  throw new BlockRejection(
    "invalid-transition",
    `Transaction ${empty} of the payload of the block of slot ${message.slot} is empty.`,
  );
}

/**
 * bellatrix/fork-choice.md, validate_merge_block. False when the engine cannot tell, but the block is one that may be imported
 * nevertheless (sync/optimistic.md, is_optimistic_candidate_block).
 */
async function checkTerminalBlock(
  signed: SignedBeaconBlock,
  {
    config,
    clock,
    engine,
    safeSlotsToImportOptimistically: safeSlots = SAFE_SLOTS_TO_IMPORT_OPTIMISTICALLY,
  }: PayloadVerifierParts,
): Promise<boolean> {
  const terminal = terminalHashOf(signed);
  const { slot } = signed.message;
  if (!mayMergeAt(config, slot)) {
    throw new BlockRejection(
      "wrong-terminal-block",
      `The block of slot ${slot} has a payload, and proof of work does not end before epoch ${config.TERMINAL_BLOCK_HASH_ACTIVATION_EPOCH}.`,
    );
  }
  const verdict = await engine.judgeTerminalBlock(terminal);
  if (verdict === "terminal") return true;
  if (verdict === "not-terminal") {
    throw new BlockRejection(
      "wrong-terminal-block",
      `The first payload of the chain goes on from the block ${terminal}, which does not end proof of work.`,
    );
  }
  // The rule keeps validators from being led astray; those of a node without an engine sign nothing.
  if (engine instanceof NoExecutionEngine) return false;
  if (slot + safeSlots <= clock.currentSlot) return false;
  throw new BlockRejection(
    "unknown-terminal-block",
    `The first payload of the chain goes on from the block ${terminal}, which the execution engine does not know.`,
  );
}

/** What the first payload of a chain goes on from. */
export function terminalHashOf({ message }: SignedBeaconBlock): RootHex {
  return toRootHex((message.body as bellatrix.BeaconBlockBody).executionPayload.parentHash);
}
