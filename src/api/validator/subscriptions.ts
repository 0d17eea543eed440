import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { DOMAIN_SELECTION_PROOF, MAX_COMMITTEES_PER_SLOT } from "@lodestar/params";
import {
  computeEpochAtSlot,
  computeSigningRoot,
  createIndexedSignatureSetFromComponents,
  isAggregatorFromCommitteeLength,
} from "@lodestar/state-transition";
import { type CommitteeIndex, type Slot, ssz } from "@lodestar/types";
import { toPubkeyHex } from "@lodestar/utils";
import type { BeaconChain } from "../../chain/chain.ts";
import type { CommitteeInterest } from "../../chain/subscriptions/committee-subscriptions.ts";
import { invalidParams } from "../../failure.ts";
import { requireSynced } from "../gate.ts";
import { lastKnownEpoch, stateForDuties } from "./duty-state.ts";

/** A subscription that proves by a signature that its validator may aggregate. */
export interface ProvenSubscription {
  committeeIndex: CommitteeIndex;
  slot: Slot;
  validatorPubkey: Uint8Array;
  /** The validator's selection proof for the slot. */
  slotSignature: Uint8Array;
}

type StandardSubscription = routes.validator.BeaconCommitteeSubscription;

export type SubscriptionsApi = Pick<ApplicationMethods<routes.validator.Endpoints>, "prepareBeaconCommitteeSubnet"> & {
  subscribeToCommittees(args: { subscriptions: (StandardSubscription | ProvenSubscription)[] }): Promise<void>;
};

export function createSubscriptionsApi(chain: BeaconChain): SubscriptionsApi {
  const subscribeToCommittees: SubscriptionsApi["subscribeToCommittees"] = async ({ subscriptions }) => {
    requireSynced(chain);
    const interests: CommitteeInterest[] = [];
    for (const subscription of subscriptions) {
      requireCommitteeOfSlotAtHand(chain, subscription);
      interests.push(
        "slotSignature" in subscription
          ? await provenInterest(chain, subscription)
          : declaredInterest(chain, subscription),
      );
    }
    // None of them takes effect unless all are in order.
    for (const interest of interests) chain.subscriptions.add(interest);
  };
  return {
    prepareBeaconCommitteeSubnet: ({ subscriptions }) => subscribeToCommittees({ subscriptions }),
    subscribeToCommittees,
  };
}

function requireCommitteeOfSlotAtHand(
  chain: BeaconChain,
  { committeeIndex, slot }: { committeeIndex: CommitteeIndex; slot: Slot },
): void {
  if (committeeIndex >= MAX_COMMITTEES_PER_SLOT) {
    throw invalidParams(
      `The committee index ${committeeIndex} is too high: no slot has more than ${MAX_COMMITTEES_PER_SLOT} committees.`,
    );
  }
  const { currentSlot } = chain.clock;
  if (slot < currentSlot - 1) {
    throw invalidParams(`Slot ${slot} has passed: the current slot is ${currentSlot}.`);
  }
  const lastEpoch = lastKnownEpoch(chain);
  if (computeEpochAtSlot(slot) > lastEpoch) {
    throw invalidParams(`Slot ${slot} is too far ahead: the committees are known up to epoch ${lastEpoch}.`);
  }
}

function declaredInterest({ headState }: BeaconChain, subscription: StandardSubscription): CommitteeInterest {
  const { validatorIndex, committeesAtSlot } = subscription;
  if (validatorIndex >= headState.validators.length) {
    throw invalidParams(`No validator has the index ${validatorIndex}.`);
  }
  if (committeesAtSlot < 1 || committeesAtSlot > MAX_COMMITTEES_PER_SLOT) {
    throw invalidParams(
      `A slot has 1 to ${MAX_COMMITTEES_PER_SLOT} committees, so it cannot have ${committeesAtSlot}.`,
    );
  }
  return subscription;
}

async function provenInterest(
  chain: BeaconChain,
  { committeeIndex, slot, validatorPubkey, slotSignature }: ProvenSubscription,
): Promise<CommitteeInterest> {
  const { config, headState, validation } = chain;
  const validatorIndex = headState.epochCtx.getValidatorIndex(validatorPubkey);
  if (validatorIndex === null || validatorIndex >= headState.validators.length) {
    throw invalidParams(`No validator has the public key ${toPubkeyHex(validatorPubkey)}.`);
  }
  const signingRoot = computeSigningRoot(ssz.Slot, slot, config.getDomain(slot, DOMAIN_SELECTION_PROOF, slot));
  const signatureSet = createIndexedSignatureSetFromComponents(validatorIndex, signingRoot, slotSignature);
  if (!(await validation.bls.verify([signatureSet]))) {
    throw invalidParams(`The slot signature is not validator ${validatorIndex}'s selection proof for slot ${slot}.`);
  }
  const epoch = computeEpochAtSlot(slot);
  const { epochCtx } = await stateForDuties(chain, epoch);
  const committeesAtSlot = epochCtx.getCommitteeCountPerSlot(epoch);
  if (committeeIndex >= committeesAtSlot) {
    throw invalidParams(
      `Slot ${slot} has ${committeesAtSlot} committees, so the committee index ${committeeIndex} is too high.`,
    );
  }
  const { length } = epochCtx.getBeaconCommittee(slot, committeeIndex);
  return {
    committeeIndex,
    slot,
    committeesAtSlot,
    isAggregator: isAggregatorFromCommitteeLength(length, slotSignature),
  };
}
