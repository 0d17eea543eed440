import { described, list, object } from "./json-schema.ts";
import type { ResultForm } from "./result-form.ts";
import { shape } from "./shapes.ts";

const proof = list(shape("Root"));
const text = { type: "string" };

const header = described(
  object({ beacon: shape("BeaconBlockHeader") }, { execution: { type: "object" }, execution_branch: proof }),
  "From capella on with the header of the execution payload and its proof.",
);
const syncCommittee = object({ pubkeys: list(shape("Pubkey")), aggregate_pubkey: shape("Pubkey") });
const optimisticUpdate = {
  attested_header: header,
  sync_aggregate: object({ sync_committee_bits: shape("Bits"), sync_committee_signature: shape("Signature") }),
  signature_slot: shape("Uint64"),
};
const finalityUpdate = { ...optimisticUpdate, finalized_header: header, finality_branch: proof };
const update = { ...finalityUpdate, next_sync_committee: syncCommittee, next_sync_committee_branch: proof };

/** What light clients are answered with. */
export const LIGHT_CLIENT: Record<string, ResultForm> = {
  get_v1_beacon_light_client_bootstrap_blockRoot: {
    name: "bootstrap",
    schema: object({ header, current_sync_committee: syncCommittee, current_sync_committee_branch: proof }),
  },
  get_v1_beacon_light_client_updates: {
    name: "updates",
    schema: list(object({ version: text, data: object(update) })),
  },
  get_v1_beacon_light_client_finality_update: { name: "finality_update", schema: object(finalityUpdate) },
  get_v1_beacon_light_client_optimistic_update: { name: "optimistic_update", schema: object(optimisticUpdate) },
};
