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
import { ACCEPTED, list, object, shape } from "../../schemas.ts";
import { throwIfAnyFailed } from "../../submissions.ts";
import { registerValidators } from "./builder-registrations.ts";
import { lastKnownEpoch, stateForDuties } from "./duty-state.ts";

type StandardSubscription = routes.validator.BeaconCommitteeSubscription;
type ValidatorInterest = CommitteeInterest & { validatorIndex: ValidatorIndex };

const prepareBeaconCommitteeSubnet = defineOperation("validator.prepareBeaconCommitteeSubnet", {
  number: 40,
  name: "post_v1_validator_beacon_committee_subscriptions",
  summary: "Subscribes validators to the subnets of their beacon committees.",
  params: { subscriptions: each(committeeSubscription, "Subscriptions, one per validator and slot.") },
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
    await processEach(subscriptions, async (subscription) => {
      requireKnownCommittee(chain, subscription);
      const { validatorIndex, ...interest } =
        "slotSignature" in subscription
          ? await verifyProof(chain, subscription)
          : validateSubscription(chain, subscription);
      chain.attached.register(validatorIndex, chain.clock.currentEpoch);
      // Clients that start in the middle of an epoch subscribe to its past slots as well.
      if (interest.slot >= chain.clock.currentSlot - 1) chain.subscriptions.add(interest);
    });
  },
});

const FEE_RECIPIENT = `0x${"fe".repeat(20)}`;

const prepareBeaconProposer = defineOperation("validator.prepareBeaconProposer", {
  name: "post_v1_validator_prepare_beacon_proposer",
  summary: "Sets the fee recipients of validators for this epoch and the next two.",
  params: { proposers: required(proposerPreparations, "Preparations, one per validator.", { name: "preparations" }) },
  result: ACCEPTED,
  failures: [],
  rest: [post("/eth/v1/validator/prepare_beacon_proposer")],
  cost: "cheap",
  access: "submit",
  example: { params: [[{ validator_index: "3", fee_recipient: FEE_RECIPIENT }]] },
  /**
   * Unknown indices are ignored rather than rejected, as the Beacon API requires: the preparation expires before such a
   * validator can propose.
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
    "Registers validators with builders. Each registration is validated on its own and forwarded to the node's builder, if any.",
  params: {
    registrations: required(signedRegistrations, "Registrations, one per validator.", { name: "signed_registrations" }),
  },
  result: ACCEPTED,
  failures: ["rejected"],
  rest: [post("/eth/v1/validator/register_validator", { ssz: "body" })],
  cost: "cheap",
  access: "submit",
  example: { params: (chain) => [[chain.registration(3)]] },
  async handler({ chain }, { registrations }, call) {
    await registerValidators(chain, registrations, call?.signal);
  },
});

const prepareSyncCommitteeSubnets = defineOperation("validator.prepareSyncCommitteeSubnets", {
  name: "post_v1_validator_sync_committee_subscriptions",
  summary: "Subscribes validators to the subnets of their sync subcommittees.",
  params: { subscriptions: required(syncSubscriptions, "Subscriptions, one per validator.") },
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
    await processEach(subscriptions, (subscription) => {
      validateSyncSubscription(chain, subscription);
      const { validatorIndex, syncCommitteeIndices, untilEpoch } = subscription;
      if (untilEpoch < currentEpoch) return;
      chain.attached.register(validatorIndex, chain.clock.currentEpoch);
      chain.syncSubscriptions.add(syncCommitteeIndices, Math.min(untilEpoch, endOfNextPeriod(currentEpoch)));
    });
  },
});

const submitBeaconCommitteeSelections = defineOperation("validator.submitBeaconCommitteeSelections", {
  name: "post_v1_validator_beacon_committee_selections",
  summary: "Combines selection proofs of distributed validators. Unsupported: only for their middleware.",
  params: { selections: required(committeeSelections, "Partial selection proofs.") },
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
    isUnsupported: true,
  },
  async handler() {
    throw noDistributedValidators();
  },
});

const submitSyncCommitteeSelections = defineOperation("validator.submitSyncCommitteeSelections", {
  name: "post_v1_validator_sync_committee_selections",
  summary:
    "Combines sync committee selection proofs of distributed validators. Unsupported: only for their middleware.",
  params: { selections: required(syncSelections, "Partial selection proofs.") },
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
    isUnsupported: true,
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

/** Processes items one by one. Valid items take effect even if other items are invalid. */
async function processEach<Item>(items: readonly Item[], process: (item: Item) => void | Promise<void>): Promise<void> {
  const failures: ItemFailure[] = [];
  const slice = new TimeSlice();
  for (const [index, item] of items.entries()) {
    await slice.yieldIfDue();
    try {
      await process(item);
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== "invalid-params") throw error;
      failures.push({ index, message: error.message });
    }
  }
  throwIfAnyFailed(failures, items.length, invalidParams);
}

function requireKnownCommittee(
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

function validateSubscription({ headState }: BeaconChain, subscription: StandardSubscription): ValidatorInterest {
  const { validatorIndex, committeesAtSlot } = subscription;
  if (validatorIndex >= headState.validators.length) {
    throw invalidParams(`No validator has the index ${validatorIndex}.`);
  }
  if (committeesAtSlot < 1 || committeesAtSlot > MAX_COMMITTEES_PER_SLOT) {
    throw invalidParams(
      `committees_at_slot must be from 1 to ${MAX_COMMITTEES_PER_SLOT}, but ${committeesAtSlot} was given.`,
    );
  }
  return subscription;
}

/** Verifies the selection proof of a subscription. */
async function verifyProof(
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

function validateSyncSubscription(
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

/** Returns the end of the next sync committee period, after which sync committees are unknown. */
function endOfNextPeriod(epoch: Epoch): Epoch {
  return (Math.floor(epoch / EPOCHS_PER_SYNC_COMMITTEE_PERIOD) + 2) * EPOCHS_PER_SYNC_COMMITTEE_PERIOD;
}

function noDistributedValidators() {
  return unsupported(
    "Combining selection proofs requires the middleware of distributed validators. Send the request there.",
  );
}
