import { ContainerType, type ValueOf } from "@chainsafe/ssz";
import { routes } from "@lodestar/api";
import { ssz } from "@lodestar/types";
import { payloadList, plainSszPayload, readSszJson, requireObject, sszPayload, TOP_LEVEL } from "./ssz-payload.ts";

/** A subscription with a selection proof, as used before the Beacon API was standardized. */
const SubscriptionWithProofType = new ContainerType(
  {
    committeeIndex: ssz.CommitteeIndex,
    slot: ssz.Slot,
    aggregator: ssz.Boolean,
    validatorPubkey: ssz.BLSPubkey,
    slotSignature: ssz.BLSSignature,
  },
  { typeName: "SubscriptionWithProof", jsonCase: "eth2" },
);

export type SubscriptionWithProof = ValueOf<typeof SubscriptionWithProofType>;

const WITH_PROOF_MEMBERS = SubscriptionWithProofType.fieldsEntries.map(({ jsonKey }) => jsonKey);

/** A subscription as in the Beacon API, or with a selection proof. */
export const committeeSubscription = sszPayload("a committee subscription", (json) => {
  return Object.hasOwn(requireObject(json, TOP_LEVEL), "slot_signature")
    ? readSszJson(SubscriptionWithProofType, json)
    : readSszJson(routes.validator.BeaconCommitteeSubscriptionType, json);
});

/** Converts five scalar parameters to a single subscription object. Other parameters remain unchanged. */
export function normalizeSubscriptionParams(params: unknown[]): unknown[] {
  const [first] = params;
  if ((typeof first !== "string" && typeof first !== "number") || params.length !== WITH_PROOF_MEMBERS.length)
    return params;
  return [Object.fromEntries(WITH_PROOF_MEMBERS.map((name, position) => [name, params[position]]))];
}

/** The type in @lodestar/api would accept any string as an address. */
const Preparation = new ContainerType(
  { validatorIndex: ssz.ValidatorIndex, feeRecipient: ssz.ExecutionAddress },
  { typeName: "ProposerPreparation", jsonCase: "eth2" },
);

export const proposerPreparations = payloadList(
  "proposer preparations",
  plainSszPayload("a proposer preparation", Preparation),
);

export const signedRegistrations = payloadList(
  "signed validator registrations",
  plainSszPayload("a signed validator registration", ssz.bellatrix.SignedValidatorRegistrationV1),
);

export const syncSubscriptions = payloadList(
  "sync committee subscriptions",
  plainSszPayload("a sync committee subscription", routes.validator.SyncCommitteeSubscriptionType),
);

export const committeeSelections = payloadList(
  "beacon committee selections",
  plainSszPayload("a beacon committee selection", routes.validator.BeaconCommitteeSelectionType),
);

export const syncSelections = payloadList(
  "sync committee selections",
  plainSszPayload("a sync committee selection", routes.validator.SyncCommitteeSelectionType),
);
