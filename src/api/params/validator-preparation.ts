import { ContainerType, type ValueOf } from "@chainsafe/ssz";
import { routes } from "@lodestar/api";
import { ssz } from "@lodestar/types";
import { payloadList, plainSszPayload, readSszJson, requireObject, sszPayload, TOP } from "./ssz-payload.ts";

/** What the first servers of this interface took: the validator shows by a signature that it may aggregate. */
const ProvenSubscriptionType = new ContainerType(
  {
    committeeIndex: ssz.CommitteeIndex,
    slot: ssz.Slot,
    aggregator: ssz.Boolean,
    validatorPubkey: ssz.BLSPubkey,
    slotSignature: ssz.BLSSignature,
  },
  { typeName: "ProvenSubscription", jsonCase: "eth2" },
);

export type ProvenSubscription = ValueOf<typeof ProvenSubscriptionType>;

const PROVEN_MEMBERS = ProvenSubscriptionType.fieldsEntries.map(({ jsonKey }) => jsonKey);

/** The standard's object, or the one with a signature in it. */
export const committeeSubscription = sszPayload("a committee subscription", (json) => {
  return Object.hasOwn(requireObject(json, TOP), "slot_signature")
    ? readSszJson(ProvenSubscriptionType, json)
    : readSszJson(routes.validator.BeaconCommitteeSubscriptionType, json);
});

/** The five scalars that make one subscription, told apart from objects by the first of them, as one object. */
export function arrangeProvenSubscription(params: unknown[]): unknown[] {
  const [first] = params;
  if ((typeof first !== "string" && typeof first !== "number") || params.length !== PROVEN_MEMBERS.length)
    return params;
  return [Object.fromEntries(PROVEN_MEMBERS.map((name, position) => [name, params[position]]))];
}

/** The type of @lodestar/api takes any text for an address. */
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
