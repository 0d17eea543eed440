import { type BeaconBlock, type IndexedAttestation, type RootHex, ssz } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { ForkChoiceError } from "../../../../src/chain/fork-choice/error.ts";
import type { VotingBlock } from "./voting-chain.ts";

/** The number in the last digits of a block's root. */
export const name = (root: RootHex): string => `block ${Number.parseInt(root.slice(-8), 16)}`;

/** The fork choice's objection to a call, if any. */
export function refusalOf(action: () => void): string | null {
  try {
    action();
    return null;
  } catch (error) {
    if (error instanceof ForkChoiceError) return error.message;
    throw error;
  }
}

/** What a beacon block contributes to fork choice. */
export function toBlockOperations({ votes, slashed, bid }: VotingBlock): [BeaconBlock, IndexedAttestation[]] {
  const block: BeaconBlock = (bid ? ssz.gloas : ssz.phase0).BeaconBlock.defaultValue();
  if (slashed.length > 0) {
    const slashing = ssz.phase0.AttesterSlashing.defaultValue();
    slashing.attestation1.attestingIndices = [...slashed];
    slashing.attestation2.attestingIndices = [...slashed];
    block.body.attesterSlashings = [slashing];
  }
  const attestations = votes.map(({ indices, slot, index, blockRoot, target, source }) => ({
    attestingIndices: [...indices],
    data: {
      slot,
      index: index ?? 0,
      beaconBlockRoot: fromHex(blockRoot),
      source: { epoch: source.epoch, root: fromHex(source.root) },
      target: { epoch: target.epoch, root: fromHex(target.root) },
    },
    signature: new Uint8Array(96),
  }));
  return [block, attestations];
}
