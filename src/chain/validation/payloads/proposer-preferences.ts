import { MIN_SEED_LOOKAHEAD } from "@lodestar/params";
import {
  type CachedBeaconStateFulu,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  createIndexedSignatureSetFromComponents,
  getProposerPreferencesSigningRoot,
} from "@lodestar/state-transition";
import type { gloas, RootHex, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { stateOrIgnore, type ValidationContext } from "../context.ts";
import { alreadyKnown, ignore, reject } from "../outcome.ts";
import { hasPassed, refuseFutureSlot } from "../time-window.ts";

const SUBJECT = "The proposer preferences";

/**
 * Validates preferences against the rules of the topic proposer_preferences (gloas/p2p-interface.md) and marks them as
 * seen. Throws a `GossipValidationError`.
 */
export async function validateProposerPreferences(
  context: ValidationContext,
  signed: gloas.SignedProposerPreferences,
): Promise<void> {
  const { message: preferences, signature } = signed;
  const { proposalSlot, validatorIndex } = preferences;
  const { config, bls, clock, forkChoice, invalidBlocks, seen } = context;
  const dependentRoot = toRootHex(preferences.dependentRoot);
  if (hasPassed(context, proposalSlot)) {
    throw ignore("past-slot", `${SUBJECT} are for slot ${proposalSlot}; the current slot is ${clock.currentSlot}.`);
  }
  const lookaheadSlot = computeStartSlotAtEpoch(computeEpochAtSlot(proposalSlot) - MIN_SEED_LOOKAHEAD);
  refuseFutureSlot(context, lookaheadSlot, `${SUBJECT} for slot ${proposalSlot}: the first slot of the lookahead`);
  refuseSecondPreferences(context, proposalSlot, dependentRoot);
  const dependent = forkChoice.get(dependentRoot);
  if (!dependent) {
    if (invalidBlocks.has(dependentRoot)) {
      throw ignore("invalid-block", `${SUBJECT} depend on block ${dependentRoot}, which is invalid.`);
    }
    throw ignore("unknown-block", `${SUBJECT} depend on the unknown block ${dependentRoot}.`);
  }
  if (dependent.slot >= lookaheadSlot) {
    throw reject(
      "wrong-dependent-root",
      `${SUBJECT} for slot ${proposalSlot} depend on block ${dependentRoot} of slot ${dependent.slot}; the dependent ` +
        `block is before slot ${lookaheadSlot}.`,
    );
  }
  if (!isPossibleDependentRoot(context, dependentRoot, lookaheadSlot)) {
    throw ignore(
      "wrong-dependent-root",
      `${SUBJECT} depend on block ${dependentRoot}, which is not the last block before slot ${lookaheadSlot} on any branch.`,
    );
  }
  const proposer = await proposerOf(context, { dependentRoot, lookaheadSlot, proposalSlot });
  if (proposer !== validatorIndex) {
    throw reject(
      "wrong-proposer",
      `${SUBJECT} are from validator ${validatorIndex}, but the proposer of slot ${proposalSlot} is ${proposer}.`,
    );
  }
  const signingRoot = getProposerPreferencesSigningRoot(config, preferences);
  if (!(await bls.verify([createIndexedSignatureSetFromComponents(validatorIndex, signingRoot, signature)]))) {
    throw reject("bad-signature", `${SUBJECT} for slot ${proposalSlot} are not signed by validator ${validatorIndex}.`);
  }
  refuseSecondPreferences(context, proposalSlot, dependentRoot);
  seen.payloads.preferences.add(signed);
}

function refuseSecondPreferences({ seen }: ValidationContext, slot: Slot, dependentRoot: RootHex): void {
  if (seen.payloads.preferences.get(slot, dependentRoot) === undefined) return;
  throw alreadyKnown(`${SUBJECT} for slot ${slot} with dependent root ${dependentRoot} are already known.`);
}

/** is_valid_dependent_root */
function isPossibleDependentRoot({ forkChoice }: ValidationContext, root: RootHex, firstSlot: Slot): boolean {
  return forkChoice.head.root === root || forkChoice.childrenOf(root).some(({ slot }) => slot >= firstSlot);
}

interface Proposal {
  dependentRoot: RootHex;
  /** First slot of the epoch in which the proposer is determined. */
  lookaheadSlot: Slot;
  proposalSlot: Slot;
}

/** Returns the proposer of a slot after the dependent block, which may require an epoch transition. */
async function proposerOf(
  { forkChoice, states }: ValidationContext,
  { dependentRoot, lookaheadSlot, proposalSlot }: Proposal,
): Promise<number | undefined> {
  const { head } = states;
  const isOfHead =
    computeEpochAtSlot(head.slot) === computeEpochAtSlot(lookaheadSlot) &&
    forkChoice.ancestorAtSlot(forkChoice.head.root, lookaheadSlot - 1) === dependentRoot;
  const state = isOfHead ? head : await stateOrIgnore(states.preState(dependentRoot, lookaheadSlot), SUBJECT);
  return (state as CachedBeaconStateFulu).proposerLookahead.getAll()[proposalSlot - lookaheadSlot];
}
