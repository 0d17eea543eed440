import type { ForkSeq } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeStartSlotAtEpoch,
  getValidatorVoluntaryExitSignatureSet,
  getVoluntaryExitValidity,
  VoluntaryExitValidity,
} from "@lodestar/state-transition";
import type { phase0 } from "@lodestar/types";
import { inclusionSlot, stateOrIgnore, type ValidationContext } from "./context.ts";
import { alreadyKnown, type GossipValidationError, type Origin, reject } from "./outcome.ts";

/** Problems that may resolve over time. */
const CURED_BY_TIME: ReadonlySet<VoluntaryExitValidity> = new Set([
  VoluntaryExitValidity.earlyEpoch,
  VoluntaryExitValidity.inactive,
  VoluntaryExitValidity.shortTimeActive,
]);

/**
 * Validates an exit against the rules of the topic voluntary_exit (phase0 and deneb/p2p-interface.md). Returns the fork
 * under which the signature is valid.
 */
export async function validateVoluntaryExit(
  context: ValidationContext,
  signedExit: phase0.SignedVoluntaryExit,
  origin: Origin,
): Promise<{ verifiedAt: ForkSeq }> {
  const { config, bls, operations, states } = context;
  const { validatorIndex } = signedExit.message;
  if (origin === "gossip" && operations.hasVoluntaryExit(validatorIndex)) {
    throw alreadyKnown(`A voluntary exit of validator ${validatorIndex} is already known.`);
  }
  if (validatorIndex >= states.head.validators.length) {
    throw reject("unknown-validator", `Unknown validator ${validatorIndex}.`);
  }

  let state = states.head;
  let validity = validityOf(context, state, signedExit);
  if (CURED_BY_TIME.has(validity) && context.clock.currentEpoch > state.epochCtx.epoch) {
    state = await stateInCurrentEpoch(context);
    validity = validityOf(context, state, signedExit);
  }
  if (validity !== VoluntaryExitValidity.valid) throw refusalFor(validity, context, state, signedExit);

  const slot = inclusionSlot(state, context.clock);
  if (!(await bls.verify([getValidatorVoluntaryExitSignatureSet(config, slot, signedExit)]))) {
    throw reject("bad-signature", `The voluntary exit of validator ${validatorIndex} is not signed by that validator.`);
  }
  return { verifiedAt: config.getForkSeq(slot) };
}

function validityOf(
  { config }: ValidationContext,
  state: CachedBeaconStateAllForks,
  signedExit: phase0.SignedVoluntaryExit,
): VoluntaryExitValidity {
  return getVoluntaryExitValidity(config.getForkSeq(state.slot), state, signedExit, false);
}

/**
 * Returns the state that determines validity. After empty slots, the block that includes the exit may be in a later
 * epoch than the head.
 */
function stateInCurrentEpoch({ clock, forkChoice, states }: ValidationContext): Promise<CachedBeaconStateAllForks> {
  const firstSlot = computeStartSlotAtEpoch(clock.currentEpoch);
  return stateOrIgnore(states.preState(forkChoice.head.root, firstSlot), "The voluntary exit");
}

function refusalFor(
  validity: Exclude<VoluntaryExitValidity, VoluntaryExitValidity.valid>,
  { config }: ValidationContext,
  state: CachedBeaconStateAllForks,
  { message: { epoch: exitEpoch, validatorIndex } }: phase0.SignedVoluntaryExit,
): GossipValidationError {
  const { epoch } = state.epochCtx;
  const validator = state.validators.getReadonly(validatorIndex);
  switch (validity) {
    case VoluntaryExitValidity.earlyEpoch:
      return reject(
        "future-epoch",
        `The voluntary exit of validator ${validatorIndex} is for epoch ${exitEpoch}; the current epoch is ${epoch}.`,
      );
    case VoluntaryExitValidity.inactive:
      return reject("not-active", `Validator ${validatorIndex} cannot exit: it is not active in epoch ${epoch}.`);
    case VoluntaryExitValidity.alreadyExited:
      return reject("already-exiting", `Validator ${validatorIndex} already exits, at epoch ${validator.exitEpoch}.`);
    case VoluntaryExitValidity.shortTimeActive: {
      const remaining = validator.activationEpoch + config.SHARD_COMMITTEE_PERIOD - epoch;
      return reject(
        "too-young",
        `Validator ${validatorIndex} has been active since epoch ${validator.activationEpoch} and can exit after ` +
          `${config.SHARD_COMMITTEE_PERIOD} epochs: ${remaining} of them remain in epoch ${epoch}.`,
      );
    }
    case VoluntaryExitValidity.pendingWithdrawals:
      return reject(
        "pending-withdrawals",
        `Validator ${validatorIndex} cannot exit before its pending partial withdrawals are paid out.`,
      );
    case VoluntaryExitValidity.invalidSignature:
      return reject("bad-signature", `The voluntary exit is not signed by validator ${validatorIndex}.`);
  }
}
