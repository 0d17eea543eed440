import type { ForkSeq } from "@lodestar/params";
import {
  assertValidAttesterSlashing,
  getAttesterSlashingSignatureSets,
  isSlashableAttestationData,
  isSlashableValidator,
} from "@lodestar/state-transition";
import type { AttesterSlashing, ValidatorIndex } from "@lodestar/types";
import { inclusionSlot, type ValidationContext } from "./context.ts";
import { alreadyKnown, ignore, type Origin, reject } from "./outcome.ts";

interface ValidatedAttesterSlashing {
  /** Fork under which the signatures are valid. */
  verifiedAt: ForkSeq;
  /** Validators in both attestations, slashable or not. Fork choice discounts all of them. */
  commonIndices: ValidatorIndex[];
}

/** Validates a slashing against the rules of the topic attester_slashing (phase0/p2p-interface.md). */
export async function validateAttesterSlashing(
  { config, clock, bls, operations, states }: ValidationContext,
  slashing: AttesterSlashing,
  origin: Origin,
): Promise<ValidatedAttesterSlashing> {
  const { head } = states;
  const { epoch, pubkeyCache } = head.epochCtx;
  const [first, second] = [slashing.attestation1.data, slashing.attestation2.data];
  const commonIndices = commonIndicesOf(slashing);
  const refuseNeedless = () => {
    if (commonIndices.length === 0) {
      throw ignore("no-common-index", "The two attestations have no attester in common.");
    }
    if (!operations.hasAttesterSlashingFor(commonIndices)) return;
    throw alreadyKnown(`Slashings of all ${commonIndices.length} common attesters are already known.`);
  };
  // A client gets to know first what is wrong.
  if (origin === "gossip") refuseNeedless();
  if (!isSlashableAttestationData(first, second)) {
    const isSwapped = isSlashableAttestationData(second, first);
    throw reject(
      "votes-do-not-conflict",
      isSwapped
        ? "The second attestation surrounds the first, but the first must surround the second. Swap them."
        : "The two attestations are neither a double vote nor does the first surround the second.",
    );
  }
  try {
    assertValidAttesterSlashing(config, pubkeyCache, head.slot, head.validators.length, slashing, false);
  } catch {
    throw reject(
      "invalid-indices",
      "The attesting indices of both attestations must be sorted, unique, not empty and below the number of " +
        `validators, ${head.validators.length}.`,
    );
  }

  if (commonIndices.length === 0) refuseNeedless();
  const common = commonIndices.map((index) => head.validators.getReadonly(index));
  if (common.every(({ slashed }) => slashed)) {
    throw reject("not-slashable", `All ${common.length} common attesters are already slashed.`);
  }
  if (!common.some((attester) => isSlashableValidator(attester, epoch))) {
    throw reject("not-slashable", `None of the ${common.length} common attesters can be slashed in epoch ${epoch}.`);
  }
  const slot = inclusionSlot(head, clock);
  if (!(await bls.verify(getAttesterSlashingSignatureSets(config, slot, slashing)))) {
    throw reject("bad-signature", "The two attestations are not both signed by their attesters.");
  }
  refuseNeedless();
  return { verifiedAt: config.getForkSeq(slot), commonIndices };
}

/** Returns the validators in both attestations. Unlike the library's function, does not rely on sorted indices. */
function commonIndicesOf({ attestation1, attestation2 }: AttesterSlashing): ValidatorIndex[] {
  const ofSecond = new Set(attestation2.attestingIndices);
  return attestation1.attestingIndices.filter((index) => ofSecond.has(index));
}
