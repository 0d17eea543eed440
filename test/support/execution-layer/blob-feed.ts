import { setImmediate } from "node:timers/promises";
import type { ForkPostDeneb } from "@lodestar/params";
import { toHex } from "@lodestar/utils";
import { type BlobCounts, DevBlobs } from "../../../src/dev/dev-blobs.ts";
import { versionedHashesOf } from "../../../src/execution/engine.ts";
import type { ExecutionLayer } from "./execution-layer.ts";
import type { Sender } from "./transactions.ts";
import type { Hex } from "./wire.ts";

/** Maximum per transaction (EIP-7594). */
const MAX_BLOBS = 6;

interface BlobFeedOptions {
  sender: Sender;
  /** Consensus fork, which determines the kind of proofs. */
  fork: ForkPostDeneb;
  counts: BlobCounts;
}

/** Sends a transaction with new blobs before each payload. Returns all blobs by versioned hash. */
export async function feedBlobs(
  layer: ExecutionLayer,
  { sender, fork, counts }: BlobFeedOptions,
): Promise<ReadonlyMap<string, string>> {
  const source = new DevBlobs({ config: { getMaxBlobsPerBlock: () => MAX_BLOBS }, counts });
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
    // Not awaited: preparing the next transaction takes a moment.
    next = setImmediate().then(makeTransaction);
    return outcome;
  });
  return fed;
}
