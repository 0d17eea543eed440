import { ContainerType } from "@chainsafe/ssz";
import { routes } from "@lodestar/api";
import { ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { payloadList } from "./payload-list.ts";
import { readSszJson } from "./ssz-json.ts";
import { plainSszPayload, sszPayload } from "./ssz-payload.ts";

/** The vocabulary's own type takes any text for an address. */
const Preparation = new ContainerType(
  { validatorIndex: ssz.ValidatorIndex, feeRecipient: ssz.ExecutionAddress },
  { typeName: "ProposerPreparation", jsonCase: "eth2" },
);

export const proposerPreparations = payloadList(
  "proposer preparations",
  sszPayload("a proposer preparation", (json) => {
    const { validatorIndex, feeRecipient } = readSszJson(Preparation, json);
    return { validatorIndex, feeRecipient: toHex(feeRecipient) };
  }),
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
