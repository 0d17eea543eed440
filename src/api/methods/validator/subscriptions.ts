import type { routes } from "@lodestar/api";
import {
  DOMAIN_SELECTION_PROOF,
  EPOCHS_PER_SYNC_COMMITTEE_PERIOD,
  ForkName,
  MAX_COMMITTEES_PER_SLOT,
  SYNC_COMMITTEE_SIZE,
} from "@lodestar/params";
import {
  computeEpochAtSlot,
  computeSigningRoot,
  createIndexedSignatureSetFromComponents,
  isAggregatorFromCommitteeLength,
} from "@lodestar/state-transition";
import { type CommitteeIndex, type Epoch, type Slot, ssz, type ValidatorIndex } from "@lodestar/types";
import { toPubkeyHex } from "@lodestar/utils";
import { TimeSlice } from "../../../async/time-slice.ts";
import type { BeaconChain } from "../../../chain/chain.ts";
import type { CommitteeInterest } from "../../../chain/subscriptions/committee-subscriptions.ts";
import { Failure, type ItemFailure, invalidParams, unsupported } from "../../../errors/failure.ts";
import { defineOperation, each, post, required } from "../../definition.ts";
import {
  committeeSelections,
  committeeSubscription,
  normalizeSubscriptionParams,
  proposerPreparations,
  type SubscriptionWithProof,
  signedRegistrations,
  syncSelections,
  syncSubscriptions,
} from "../../params/validator-preparation.ts";
import { requireSynced } from "../../preconditions.ts";
import { isTrue, list, object, shape } from "../../schemas.ts";
import { throwIfAnyFailed } from "../../submissions.ts";
import { register } from "./builder-registrations.ts";
import { lastKnownEpoch, stateForDuties } from "./duty-state.ts";

type StandardSubscription = routes.validator.BeaconCommitteeSubscription;
type ValidatorInterest = CommitteeInterest & { validatorIndex: ValidatorIndex };

const ACCEPTED = { name: "accepted", schema: isTrue };

const prepareBeaconCommitteeSubnet = defineOperation("validator.prepareBeaconCommitteeSubnet", {
  number: 40,
  name: "post_v1_validator_beacon_committee_subscriptions",
  summary: "Tells the node in which committees validators will attest or aggregate.",
  params: { subscriptions: each(committeeSubscription, "One for each validator and slot.") },
  normalizePositional: normalizeSubscriptionParams,
  result: ACCEPTED,
  failures: ["not-found", "unavailable"],
  rest: [post("/eth/v1/validator/beacon_committee_subscriptions")],
  cost: "cheap",
  access: "submit",
  example: {
    stage: "attest",
    params: (chain) => [
      [
        {
          validator_index: "3",
          committee_index: "0",
          committees_at_slot: "1",
          slot: String(chain.slot),
          is_aggregator: true,
        },
      ],
    ],
  },
  async handler({ chain }, { subscriptions }) {
    requireSynced(chain);
    await takeEach(subscriptions, async (subscription) => {
      requireCommitteeOfSlotAtHand(chain, subscription);
      const { validatorIndex, ...interest } =
        "slotSignature" in subscription
          ? await provenInterest(chain, subscription)
          : declaredInterest(chain, subscription);
      chain.attached.register(validatorIndex, chain.clock.currentEpoch);
      // A client that starts in the middle of an epoch subscribes for all of it.
      if (interest.slot >= chain.clock.currentSlot - 1) chain.subscriptions.add(interest);
    });
  },
});

const FEE_RECIPIENT = `0x${"fe".repeat(20)}`;

const prepareBeaconProposer = defineOperation("validator.prepareBeaconProposer", {
  name: "post_v1_validator_prepare_beacon_proposer",
  summary: "Tells the node where the fees of validators' blocks are to go, for this epoch and two more.",
  params: { proposers: required(proposerPreparations, "One for each validator.", { name: "preparations" }) },
  result: ACCEPTED,
  failures: [],
  rest: [post("/eth/v1/validator/prepare_beacon_proposer")],
  cost: "cheap",
  access: "submit",
  example: { params: [[{ validator_index: "3", fee_recipient: FEE_RECIPIENT }]] },
  /**
   * Indices that nobody has yet are accepted, as the standard wants it, but not kept: whoever gets one can propose only long
   * after what is told now has expired.
   */
  async handler({ chain }, { proposers }) {
    const slice = new TimeSlice();
    for (const { validatorIndex, feeRecipient } of proposers) {
      await slice.yieldIfDue();
      if (validatorIndex >= chain.headState.validators.length) continue;
      chain.preparations.prepare(validatorIndex, feeRecipient, chain.clock.currentEpoch);
    }
  },
});

const registerValidator = defineOperation("validator.registerValidator", {
  name: "post_v1_validator_register_validator",
  summary:
    "Registers validators for builders, each judged by itself; the node passes this on to its builder, if it has one.",
  params: {
    registrations: required(signedRegistrations, "One for each validator.", { name: "signed_registrations" }),
  },
  result: ACCEPTED,
  failures: ["rejected"],
  rest: [post("/eth/v1/validator/register_validator", { ssz: "body" })],
  cost: "cheap",
  access: "submit",
  example: { params: (chain) => [[chain.registration(3)]] },
  async handler({ chain }, { registrations }, call) {
    await register(chain, registrations, call?.signal);
  },
});

const prepareSyncCommitteeSubnets = defineOperation("validator.prepareSyncCommitteeSubnets", {
  name: "post_v1_validator_sync_committee_subscriptions",
  summary: "Tells the node in which sync subcommittees validators take part.",
  params: { subscriptions: required(syncSubscriptions, "One for each validator.") },
  result: ACCEPTED,
  failures: [],
  rest: [post("/eth/v1/validator/sync_committee_subscriptions")],
  cost: "cheap",
  access: "submit",
  example: {
    params: (chain) => [
      [{ validator_index: "3", sync_committee_indices: ["0", "9"], until_epoch: String(chain.epoch + 1) }],
    ],
  },
  async handler({ chain }, { subscriptions }) {
    const currentEpoch = Math.max(chain.clock.currentEpoch, computeEpochAtSlot(chain.head.slot));
    await takeEach(subscriptions, (subscription) => {
      requireSoundSubscription(chain, subscription);
      const { validatorIndex, syncCommitteeIndices, untilEpoch } = subscription;
      if (untilEpoch < currentEpoch) return;
      chain.attached.register(validatorIndex, chain.clock.currentEpoch);
      chain.syncSubscriptions.add(syncCommitteeIndices, Math.min(untilEpoch, endOfNextPeriod(currentEpoch)));
    });
  },
});

const submitBeaconCommitteeSelections = defineOperation("validator.submitBeaconCommitteeSelections", {
  name: "post_v1_validator_beacon_committee_selections",
  summary: "Combines selection proofs of distributed validators; only their middleware supports it.",
  params: { selections: required(committeeSelections, "The partial selection proofs.") },
  result: {
    name: "selections",
    schema: list(
      object({ validator_index: shape("Uint64"), slot: shape("Uint64"), selection_proof: shape("Signature") }),
    ),
  },
  failures: ["unsupported"],
  rest: [post("/eth/v1/validator/beacon_committee_selections")],
  cost: "cheap",
  access: "read",
  example: {
    params: (chain) => [[{ validator_index: "3", slot: String(chain.slot), selection_proof: chain.selectionProof(3) }]],
    isRefused: true,
  },
  async handler() {
    throw noDistributedValidators();
  },
});

const submitSyncCommitteeSelections = defineOperation("validator.submitSyncCommitteeSelections", {
  name: "post_v1_validator_sync_committee_selections",
  summary: "Combines sync committee selection proofs of distributed validators; only their middleware supports it.",
  params: { selections: required(syncSelections, "The partial selection proofs.") },
  result: {
    name: "selections",
    schema: list(
      object({
        validator_index: shape("Uint64"),
        slot: shape("Uint64"),
        subcommittee_index: shape("Uint64"),
        selection_proof: shape("Signature"),
      }),
    ),
  },
  failures: ["unsupported"],
  rest: [post("/eth/v1/validator/sync_committee_selections")],
  cost: "cheap",
  access: "read",
  since: ForkName.altair,
  example: {
    params: (chain) => [
      [
        {
          validator_index: "3",
          slot: String(chain.slot),
          subcommittee_index: "0",
          selection_proof: chain.selectionProof(3),
        },
      ],
    ],
    isRefused: true,
  },
  async handler() {
    throw noDistributedValidators();
  },
});

export const subscriptionMethods = [
  prepareBeaconCommitteeSubnet,
  prepareBeaconProposer,
  registerValidator,
  prepareSyncCommitteeSubnets,
  submitBeaconCommitteeSelections,
  submitSyncCommitteeSelections,
] as const;

/** Each item by itself, so that those in order take effect; those that have become pointless are not wrong. */
async function takeEach<Item>(items: readonly Item[], take: (item: Item) => void | Promise<void>): Promise<void> {
  const failures: ItemFailure[] = [];
  const slice = new TimeSlice();
  for (const [index, item] of items.entries()) {
    await slice.yieldIfDue();
    try {
      await take(item);
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== "invalid-params") throw error;
      failures.push({ index, message: error.message });
    }
  }
  throwIfAnyFailed(failures, items.length, invalidParams);
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
  const lastEpoch = lastKnownEpoch(chain);
  if (computeEpochAtSlot(slot) > lastEpoch) {
    throw invalidParams(`Slot ${slot} is too far ahead: the committees are known up to epoch ${lastEpoch}.`);
  }
}

function declaredInterest({ headState }: BeaconChain, subscription: StandardSubscription): ValidatorInterest {
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
  { committeeIndex, slot, validatorPubkey, slotSignature }: SubscriptionWithProof,
): Promise<ValidatorInterest> {
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
    validatorIndex,
    committeeIndex,
    slot,
    committeesAtSlot,
    isAggregator: isAggregatorFromCommitteeLength(length, slotSignature),
  };
}

function requireSoundSubscription(
  chain: BeaconChain,
  { validatorIndex, syncCommitteeIndices }: routes.validator.SyncCommitteeSubscription,
): void {
  if (validatorIndex >= chain.headState.validators.length) {
    throw invalidParams(`No validator has the index ${validatorIndex}.`);
  }
  const tooHigh = syncCommitteeIndices.find((position) => position >= SYNC_COMMITTEE_SIZE);
  if (tooHigh !== undefined) {
    throw invalidParams(`A sync committee has ${SYNC_COMMITTEE_SIZE} members, so the position ${tooHigh} is too high.`);
  }
}

/** No sync committee is known beyond the next period. */
function endOfNextPeriod(epoch: Epoch): Epoch {
  return (Math.floor(epoch / EPOCHS_PER_SYNC_COMMITTEE_PERIOD) + 2) * EPOCHS_PER_SYNC_COMMITTEE_PERIOD;
}

function noDistributedValidators() {
  return unsupported(
    "Selection proofs are combined by the middleware of distributed validators, which this node is not.",
  );
}
