import type { BeaconConfig } from "@lodestar/config";
import { type gloas, type RootHex, type SignedBeaconBlock, ssz } from "@lodestar/types";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { describeValueFault } from "../../ssz/value-fault.ts";
import type { DataAvailability } from "../data/data-availability.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { withPayloadStatus } from "../fork-choice/payloads/payload-status.ts";
import { putForkChoiceBlock } from "../fork-choice/stored-fork-choice.ts";
import type { ForkChoiceBlock, VerifiedPayload } from "../fork-choice/types.ts";
import { BlockRejection } from "../import/block-rejection.ts";
import type { PayloadStore } from "./payload-store.ts";

/** A verified payload with its block. */
export interface PayloadToCommit {
  /** The block. */
  signed: SignedBeaconBlock;
  /** Root of the block. */
  root: RootHex;
  envelope: gloas.SignedExecutionPayloadEnvelope;
  verdict: VerifiedPayload;
}

export interface PayloadCommitterParts {
  config: BeaconConfig;
  db: BeaconDb;
  forkChoice: ForkChoice;
  data: DataAvailability;
  payloadStore: PayloadStore;
}

/**
 * Adds verified payloads to the chain: in one database batch with the data of their blocks, then in fork choice. Calls
 * must not overlap; the chain queues them.
 */
export class PayloadCommitter {
  readonly #parts: PayloadCommitterParts;

  constructor(parts: PayloadCommitterParts) {
    this.#parts = parts;
  }

  /**
   * Returns false if the payload was imported by other means, or finality has passed its block. Throws a
   * `BlockRejection` if the pool has evicted the data.
   */
  async commit({ signed, root, envelope, verdict }: PayloadToCommit): Promise<boolean> {
    const { db, forkChoice, data, payloadStore } = this.#parts;
    const block = forkChoice.get(root);
    if (block?.execution.status !== "absent") return false;
    data.requireAvailable({ signed, root });
    const sidecars = data.pool.all(root);
    const batch = db.batch();
    batch.payloads.put(root, encode(envelope));
    for (const changed of this.#statusesAfter(block, verdict)) {
      if (forkChoice.isHot(changed)) putForkChoiceBlock(batch, changed);
    }
    await data.store(batch, block, sidecars);
    await batch.write();
    forkChoice.onPayload(root, verdict);
    payloadStore.cache(root, envelope);
    data.pool.delete(root, sidecars);
    return true;
  }

  /** Returns the block with its payload and, if the payload is valid, the blocks whose payloads are then valid too. */
  #statusesAfter(block: ForkChoiceBlock, { status, blockNumber }: VerifiedPayload): ForkChoiceBlock[] {
    const { forkChoice } = this.#parts;
    const { root, bid } = block;
    if (bid === undefined) return [];
    const isBuiltOnInvalid = forkChoice.isInvalidBlock(root);
    const full: ForkChoiceBlock = {
      ...block,
      execution: { status: isBuiltOnInvalid ? "invalid" : status, blockHash: bid.blockHash, blockNumber },
    };
    const parent = forkChoice.payloadBlock({ root, payloadStatus: "empty" });
    const isValid = status === "valid" && !isBuiltOnInvalid && parent !== undefined;
    const ancestors = isValid ? forkChoice.optimisticAncestors(parent.root) : [];
    return [full, ...ancestors.map((ancestor) => withPayloadStatus(ancestor, "valid"))];
  }
}

/** Throws a `BlockRejection` that names the faulty part, because an envelope that cannot be decoded would be lost. */
function encode(envelope: gloas.SignedExecutionPayloadEnvelope): Uint8Array {
  const type = ssz.gloas.SignedExecutionPayloadEnvelope;
  const fault = describeValueFault(type, envelope);
  if (fault === undefined) return type.serialize(envelope);
  throw new BlockRejection("invalid-envelope", `The execution payload envelope cannot be encoded: ${fault}.`);
}
