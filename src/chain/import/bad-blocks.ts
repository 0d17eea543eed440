import type { Type } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import { getBlockProposerSignatureSet } from "@lodestar/state-transition";
import type { BeaconBlock, RootHex, SignedBeaconBlock } from "@lodestar/types";
import type { BlsVerifier } from "../../bls/verifier.ts";
import { LruMap } from "../lru-map.ts";
import type { BlockRejection, RejectionReason } from "./block-rejection.ts";

const ROOTS_HELD = 1024;

/** The roots of blocks that are not to be taken, and of those that build on them: the latest, as they are many if anybody wants it. */
export class BadBlocks {
  readonly #roots = new LruMap<RootHex, true>(ROOTS_HELD);

  has(root: RootHex): boolean {
    return this.#roots.get(root) === true;
  }

  add(root: RootHex): void {
    this.#roots.set(root, true);
  }
}

/** The rules that are broken by whatever has the root of the block. What an execution engine says is none of them, as it may be wrong. */
const BROKEN_RULES: ReadonlySet<RejectionReason> = new Set([
  "not-later-than-parent",
  "wrong-proposer",
  "wrong-state-root",
  "invalid-transition",
]);

/** Whether what a block was refused for makes every block of its root invalid, for everybody and for ever. */
export async function isInvalidForCertain(
  rejection: BlockRejection,
  signed: SignedBeaconBlock,
  { config, bls }: { config: BeaconConfig; bls: Pick<BlsVerifier, "verify"> },
): Promise<boolean> {
  const { reason, cause } = rejection;
  // The fault may be ours.
  if (cause instanceof TypeError || cause instanceof RangeError) return false;
  // The root covers all signatures but that of the proposer.
  const isOfRoot =
    reason === "invalid-signature"
      ? await bls.verify([getBlockProposerSignatureSet(config, signed)])
      : BROKEN_RULES.has(reason);
  return isOfRoot && isAsHashed(signed.message, config);
}

/** A number that is too large to be exact is hashed as another one: then a good block may have the same root. */
function isAsHashed(block: BeaconBlock, config: BeaconConfig): boolean {
  const type = config.getForkTypes(block.slot).BeaconBlock as Type<BeaconBlock>;
  return type.equals(type.deserialize(type.serialize(block)), block);
}
