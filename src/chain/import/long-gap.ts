import type { BeaconConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { getBlockProposerSignatureSet } from "@lodestar/state-transition";
import type { SignedBeaconBlock, Slot } from "@lodestar/types";
import type { BlsVerifier } from "../../bls/verifier.ts";
import { badSignature } from "./verify-block.ts";

/**
 * Each epoch between a block and its parent costs an epoch transition before anything of the block can be verified. For
 * many of them it must at least be signed by the validator it names, so that nobody can invent such work for nothing.
 */
export async function refuseUnsignedLeap(
  signed: SignedBeaconBlock,
  parentSlot: Slot,
  { config, bls }: { config: BeaconConfig; bls: BlsVerifier },
): Promise<void> {
  if (signed.message.slot - parentSlot <= SLOTS_PER_EPOCH) return;
  if (!(await bls.verify([getBlockProposerSignatureSet(config, signed)]))) throw badSignature(signed);
}
