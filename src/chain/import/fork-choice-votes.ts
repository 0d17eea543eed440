import { computeStartSlotAtEpoch, getAttesterSlashableIndices } from "@lodestar/state-transition";
import type { BeaconBlock, IndexedAttestation } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";

/** Counts the votes that a valid block carries, and takes the weight of those it proves to equivocate. */
export function voteWithBlock(
  forkChoice: ForkChoice,
  block: BeaconBlock,
  indexedAttestations: IndexedAttestation[],
): void {
  for (const slashing of block.body.attesterSlashings) {
    forkChoice.onAttesterSlashing(getAttesterSlashableIndices(slashing));
  }
  for (const { data, attestingIndices } of indexedAttestations) {
    const blockRoot = toRootHex(data.beaconBlockRoot);
    // fork-choice.md, validate_on_attestation: the target must be the vote's own checkpoint. A vote for a block that
    // was pruned, or that this node has not seen, has nothing to count for.
    const targetSlot = computeStartSlotAtEpoch(data.target.epoch);
    if (forkChoice.ancestorAtSlot(blockRoot, targetSlot) !== toRootHex(data.target.root)) continue;
    forkChoice.onAttestation({
      indices: attestingIndices,
      slot: data.slot,
      targetEpoch: data.target.epoch,
      blockRoot,
    });
  }
}
