import type { ForkSeq } from "@lodestar/params";
import {
  assertValidAttesterSlashing,
  getAttesterSlashableIndices,
  getAttesterSlashingSignatureSets,
  isSlashableAttestationData,
  isSlashableValidator,
} from "@lodestar/state-transition";
import type { AttesterSlashing, ValidatorIndex } from "@lodestar/types";
import { carryingSlot, type ValidationContext } from "./context.ts";
import { alreadyKnown, ignore, type Origin, reject } from "./outcome.ts";

interface ValidatedAttesterSlashing {
  /** The fork under which the signatures were found good. */
  verifiedAt: ForkSeq;
  /** The validators that signed both attestations, slashable or not: fork choice discounts all of them. */
  commonIndices: ValidatorIndex[];
}

/** The rules of the topic attester_slashing (phase0/p2p-interface.md). */
export async function validateAttesterSlashing(
  { config, clock, bls, operations, states }: ValidationContext,
  slashing: AttesterSlashing,
  origin: Origin,
): Promise<ValidatedAttesterSlashing> {
  const { head } = states;
  const { epoch, pubkeyCache } = head.epochCtx;
  const [first, second] = [slashing.attestation1.data, slashing.attestation2.data];
  if (!isSlashableAttestationData(first, second)) {
    const isSwapped = isSlashableAttestationData(second, first);
    throw reject(
      "votes-do-not-conflict",
      isSwapped
        ? "The first attestation has to surround the second, but it is the second that surrounds the first: they have to be swapped."
        : "The two attestations are neither a double vote nor does the first surround the second.",
    );
  }
  // This comes before the question whether they were seen, because common indices are only well defined in sorted lists.
  try {
    assertValidAttesterSlashing(config, pubkeyCache, head.slot, head.validators.length, slashing, false);
  } catch {
    throw reject(
      "invalid-indices",
      "The attesting indices of both attestations have to be sorted, without repetition, not empty and those of " +
        `validators, of which there are ${head.validators.length}.`,
    );
  }

  const commonIndices = getAttesterSlashableIndices(slashing);
  if (commonIndices.length === 0) {
    throw ignore("no-common-index", "The two attestations have no attester in common.");
  }
  const refuseNeedless = () => {
    if (!operations.hasAttesterSlashingFor(commonIndices)) return;
    throw alreadyKnown(`Slashings of all ${commonIndices.length} attesters in common were seen before.`);
  };
  if (origin === "gossip") refuseNeedless();
  const common = commonIndices.map((index) => head.validators.getReadonly(index));
  if (common.every(({ slashed }) => slashed)) {
    throw reject("not-slashable", `All ${common.length} attesters in common are already slashed.`);
  }
  if (!common.some((attester) => isSlashableValidator(attester, epoch))) {
    throw reject("not-slashable", `None of the ${common.length} attesters in common can be slashed in epoch ${epoch}.`);
  }
  const slot = carryingSlot(head, clock);
  if (!(await bls.verify(getAttesterSlashingSignatureSets(config, slot, slashing)))) {
    throw reject("bad-signature", "The two attestations are not both signed by the attesters they name.");
  }
  refuseNeedless();
  return { verifiedAt: config.getForkSeq(slot), commonIndices };
}
