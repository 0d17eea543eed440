import { setImmediate } from "node:timers/promises";
import type { ForkPostDeneb } from "@lodestar/params";
import { toHex } from "@lodestar/utils";
import { type BlobCounts, DevBlobs } from "../../../src/dev/dev-blobs.ts";
import { versionedHashesOf } from "../../../src/execution/engine.ts";
import type { ExecutionLayer } from "./execution-layer.ts";
import type { Sender } from "./transactions.ts";
import type { Hex } from "./wire.ts";

/** EIP-7594: in one transaction. */
const MOST_BLOBS = 6;

interface BlobFeedOptions {
  sender: Sender;
  /** Of the consensus layer: which proofs the blobs have. */
  fork: ForkPostDeneb;
  counts: BlobCounts;
}

/**
 * Has a transaction with new blobs come before each payload is given, so that every payload has some. Returns all
 * blobs, by their versioned hashes.
 */
export async function feedBlobs(
  layer: ExecutionLayer,
  { sender, fork, counts }: BlobFeedOptions,
): Promise<ReadonlyMap<string, string>> {
  const source = new DevBlobs({ config: { getMaxBlobsPerBlock: () => MOST_BLOBS }, counts });
  const fed = new Map<string, string>();
  const parent = { blockHash: new Uint8Array(32), blockNumber: 0 };
  let number = 0;
  const makeTransaction = async (): Promise<Hex> => {
    const bundle = source.bundleFor({ fork, slot: number++, parent });
    const hashes = versionedHashesOf(bundle.commitments);
    for (const [index, blob] of bundle.blobs.entries()) fed.set(toHex(hashes[index]!), toHex(blob));
    return sender.blobs(bundle).raw;
  };
  let next = makeTransaction();
  await next;
  layer.faults.set("engine_getPayload", async ({ chain, proceed }) => {
    chain.addTransaction(await next);
    const outcome = await proceed();
    // It takes a moment, for which nobody waits.
    next = setImmediate().then(makeTransaction);
    return outcome;
  });
  return fed;
}
