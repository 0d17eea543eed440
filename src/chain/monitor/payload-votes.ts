import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { BeaconBlock, ValidatorIndex } from "@lodestar/types";
import { bidOf } from "../blocks/bid.ts";

/** Votes of a validator in payload timeliness committees. */
export interface PayloadVotes {
  included: number;
  missed: number;
}

/**
 * Counts the votes on the payload of a block since gloas. Only its child can include them, if it is in the next slot. A
 * validator may have several seats in a committee.
 */
export function countPayloadVotes(
  block: BeaconBlock,
  child: BeaconBlock | undefined,
  { epochCtx }: CachedBeaconStateAllForks,
  reviews: ReadonlyMap<ValidatorIndex, { readonly payloadVotes: PayloadVotes }>,
): void {
  if (!bidOf(block) || child?.slot !== block.slot + 1 || !("payloadAttestations" in child.body)) return;
  const { payloadAttestations } = child.body;
  const hasVoted = new Map<ValidatorIndex, boolean>();
  for (const [position, member] of epochCtx.getPayloadTimelinessCommittee(block.slot).entries()) {
    if (!reviews.has(member) || hasVoted.get(member)) continue;
    hasVoted.set(
      member,
      payloadAttestations.some(({ aggregationBits }) => aggregationBits.get(position)),
    );
  }
  for (const [member, isIncluded] of hasVoted) reviews.get(member)!.payloadVotes[isIncluded ? "included" : "missed"]++;
}
