import type { BeaconConfig } from "@lodestar/config";
import type { ForkPostBellatrix } from "@lodestar/params";
import type { electra, SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { ExecutionEngine } from "../../execution/engine.ts";
import { versionedHashesOf } from "../../execution/versioned-hashes.ts";
import type { ForkChoiceExecution } from "../fork-choice/types.ts";
import { BlockRejection } from "./block-rejection.ts";

/** Asks the execution engine about the payload of a block that has one. */
export async function verifyPayload(
  { message }: SignedBeaconBlock,
  { config, engine }: { config: BeaconConfig; engine: ExecutionEngine },
): Promise<ForkChoiceExecution> {
  const fork = config.getForkName(message.slot) as ForkPostBellatrix;
  const body = message.body as electra.BeaconBlockBody;
  const payload = body.executionPayload;
  const verdict = await engine.notifyNewPayload(fork, payload, {
    parentBeaconBlockRoot: message.parentRoot,
    executionRequests: body.executionRequests,
    versionedHashes: versionedHashesOf(body.blobKzgCommitments ?? []),
  });
  if (verdict.status === "invalid") {
    throw new BlockRejection(
      "invalid-payload",
      `The execution engine refuses the payload of the block of slot ${message.slot}: ${verdict.message}`,
    );
  }
  return { status: verdict.status, blockHash: toRootHex(payload.blockHash), blockNumber: payload.blockNumber };
}
