import type { ForkSeq } from "@lodestar/params";
import {
  assertValidAttesterSlashing,
  getAttesterSlashableIndices,
  getAttesterSlashingSignatureSets,
  isSlashableAttestationData,
  isSlashableValidator,
} from "@lodestar/state-transition";
import type { AttesterSlashing, ValidatorIndex } from "@lodestar/types";
import type { ValidationContext } from "./context.ts";
import { alreadyKnown, ignore, reject } from "./outcome.ts";

interface ValidatedAttesterSlashing {
  /** The fork under which the signatures were found good. */
  verifiedAt: ForkSeq;
  /** The validators that signed both attestations, slashable or not: fork choice discounts all of them. */
  commonIndices: ValidatorIndex[];
}

/** The rules of the topic attester_slashing (phase0/p2p-interface.md). */
export async function validateAttesterSlashing(
  { config, bls, operations, states }: ValidationContext,
  slashing: AttesterSlashing,
): Promise<ValidatedAttesterSlashing> {
  const { head } = states;
  const { epoch, pubkeyCache } = head.epochCtx;
  if (!isSlashableAttestationData(slashing.attestation1.data, slashing.attestation2.data)) {
    throw reject(
      "votes-do-not-conflict",
      "The two attestations are neither a double vote nor does one surround the other.",
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
  if (operations.hasAttesterSlashingFor(commonIndices)) {
    throw alreadyKnown(`Slashings of all ${commonIndices.length} attesters in common were seen before.`);
  }
  if (!commonIndices.some((index) => isSlashableValidator(head.validators.getReadonly(index), epoch))) {
    throw reject(
      "not-slashable",
      `None of the ${commonIndices.length} attesters in common can be slashed in epoch ${epoch}.`,
    );
  }
  if (!(await bls.verify(getAttesterSlashingSignatureSets(config, head.slot, slashing)))) {
    throw reject("bad-signature", "The two attestations are not both signed by the attesters they name.");
  }
  return { verifiedAt: config.getForkSeq(head.slot), commonIndices };
}
