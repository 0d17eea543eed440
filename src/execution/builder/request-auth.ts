import { ByteListType, ContainerType, ListCompositeType } from "@chainsafe/ssz";
import { ssz } from "@lodestar/types";

/** MAX_DATA_SIZE of builder-specs. */
const MAX_DATA_SIZE = 4096;
/** Limits of the Beacon API (produceBlockV4). */
export const MAX_BUILDER_ENTRIES = 64;
const MAX_BUILDER_URL_SIZE = 2048;

/** Authenticates a proposer's request to a builder (builder-specs, gloas). Forwarded unchanged. */
export const SignedRequestAuth = new ContainerType(
  {
    message: new ContainerType(
      { data: new ByteListType(MAX_DATA_SIZE), slot: ssz.UintBn64 },
      { typeName: "RequestAuthV1", jsonCase: "eth2" },
    ),
    signature: ssz.BLSSignature,
  },
  { typeName: "SignedRequestAuthV1", jsonCase: "eth2" },
);

const Url = new ByteListType(MAX_BUILDER_URL_SIZE);

/** A builder to ask for a bid, and what the proposer accepts from it (Beacon API, `BuilderEntry`). */
export const BuilderEntry = new ContainerType(
  {
    url: Url,
    auth: SignedRequestAuth,
    pubkey: ssz.BLSPubkey,
    maxExecutionPayment: ssz.UintBn64,
    minBid: ssz.UintBn64,
    builderBoostFactor: ssz.UintBn64,
  },
  { typeName: "BuilderEntryV1", jsonCase: "eth2" },
);

/** What a proposer accepts from a builder, for the builder itself (Beacon API, `BuilderPreferenceEntry`). */
export const BuilderPreferenceEntry = new ContainerType(
  { url: Url, auth: SignedRequestAuth, maxExecutionPayment: ssz.UintBn64 },
  { typeName: "BuilderPreferenceEntryV1", jsonCase: "eth2" },
);

export const BuilderEntries = new ListCompositeType(BuilderEntry, MAX_BUILDER_ENTRIES);
export const BuilderPreferenceEntries = new ListCompositeType(BuilderPreferenceEntry, MAX_BUILDER_ENTRIES);

type ValueOf<T> = T extends { defaultValue(): infer V } ? V : never;

export type SignedRequestAuth = ValueOf<typeof SignedRequestAuth>;
export type BuilderEntry = ValueOf<typeof BuilderEntry>;
export type BuilderPreferenceEntry = ValueOf<typeof BuilderPreferenceEntry>;
