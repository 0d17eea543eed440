import type { ForkSeq } from "@lodestar/params";
import {
  assertValidProposerSlashing,
  getProposerSlashingSignatureSets,
  isSlashableValidator,
} from "@lodestar/state-transition";
import type { phase0 } from "@lodestar/types";
import { inclusionSlot, type ValidationContext } from "./context.ts";
import { alreadyKnown, type Origin, reject } from "./outcome.ts";

/**
 * Validates a slashing against the rules of the `proposer_slashing` topic (phase0/p2p-interface.md). Returns the fork
 * under which the signatures are valid.
 */
export async function validateProposerSlashing(
  { config, clock, bls, operations, states }: ValidationContext,
  slashing: phase0.ProposerSlashing,
  origin: Origin,
): Promise<{ verifiedAt: ForkSeq }> {
  const { proposerIndex } = slashing.signedHeader1.message;
  const { head } = states;
  if (origin === "gossip" && operations.hasProposerSlashing(proposerIndex)) {
    throw alreadyKnown(`A slashing of proposer ${proposerIndex} is already known.`);
  }
  if (proposerIndex >= head.validators.length) {
    throw reject("unknown-validator", `Unknown validator ${proposerIndex}.`);
  }
  const proposer = head.validators.getReadonly(proposerIndex);
  const { epoch, pubkeyCache } = head.epochCtx;
  if (proposer.slashed) throw reject("not-slashable", `Validator ${proposerIndex} is already slashed.`);
  if (!isSlashableValidator(proposer, epoch)) {
    throw reject("not-slashable", `Validator ${proposerIndex} cannot be slashed in epoch ${epoch}.`);
  }
  try {
    assertValidProposerSlashing(config, pubkeyCache, head.slot, slashing, proposer, false);
  } catch (error) {
    throw reject(
      "headers-do-not-conflict",
      `The two headers do not prove a double proposal (${error instanceof Error ? error.message : error}): they must ` +
        "be different headers of the same slot and proposer.",
    );
  }
  const slot = inclusionSlot(head, clock);
  if (!(await bls.verify(getProposerSlashingSignatureSets(config, slot, slashing)))) {
    throw reject("bad-signature", `The two headers are not both signed by proposer ${proposerIndex}.`);
  }
  return { verifiedAt: config.getForkSeq(slot) };
}
