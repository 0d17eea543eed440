import type { Type } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import { getBlockProposerSignatureSet } from "@lodestar/state-transition";
import type { BeaconBlock, RootHex, SignedBeaconBlock } from "@lodestar/types";
import type { BlsVerifier } from "../../bls/verifier.ts";
import { LruMap } from "../../collections/lru-map.ts";
import { valueFault } from "../../ssz/value-fault.ts";
import type { BlockRejection, RejectionReason } from "./block-rejection.ts";

const ROOTS_HELD = 1024;

/**
 * LRU set of roots of invalid blocks and their descendants. Bounded, because an attacker can create any number of them.
 */
export class InvalidBlockRoots {
  readonly #roots = new LruMap<RootHex, true>(ROOTS_HELD);

  has(root: RootHex): boolean {
    return this.#roots.get(root) === true;
  }

  add(root: RootHex): void {
    this.#roots.set(root, true);
  }
}

/**
 * Rules that depend only on data covered by the block root. Excludes verdicts from the execution engine, which may be
 * wrong.
 */
const BROKEN_RULES: ReadonlySet<RejectionReason> = new Set([
  "not-later-than-parent",
  "wrong-proposer",
  "wrong-state-root",
  "invalid-transition",
]);

/** Returns true if every block with this root is permanently invalid for the same reason. */
export async function isPermanentlyInvalid(
  rejection: BlockRejection,
  signed: SignedBeaconBlock,
  { config, bls }: { config: BeaconConfig; bls: Pick<BlsVerifier, "verify"> },
): Promise<boolean> {
  const { reason, cause } = rejection;
  // Possibly a bug in this node.
  if (cause instanceof TypeError || cause instanceof RangeError) return false;
  // The root covers all signatures except the proposer's.
  const isOfRoot =
    reason === "invalid-signature"
      ? await bls.verify([getBlockProposerSignatureSet(config, signed)])
      : BROKEN_RULES.has(reason);
  return isOfRoot && isAsHashed(signed.message, config);
}

/**
 * Returns false if the block is malformed or contains a number too large to be exact. Such a number is hashed as a
 * different number, which may belong to a valid block.
 */
function isAsHashed(block: BeaconBlock, config: BeaconConfig): boolean {
  const type = config.getForkTypes(block.slot).BeaconBlock as Type<BeaconBlock>;
  return valueFault(type, block) === undefined && type.equals(type.deserialize(type.serialize(block)), block);
}
