import { ContainerType } from "@chainsafe/ssz";
import { routes } from "@lodestar/api";
import { ssz } from "@lodestar/types";
import { payloadList, plainSszPayload } from "./ssz-payload.ts";

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
