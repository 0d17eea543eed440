import { ContainerType, type ValueOf } from "@chainsafe/ssz";
import { routes } from "@lodestar/api";
import { ssz } from "@lodestar/types";
import { readSszJson, requireObject, sszPayload, TOP } from "./ssz-payload.ts";

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
