import { ForkName } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { TimeSlice } from "../../../async/time-slice.ts";
import { type Outcome, outcomeOf } from "../../../chain/validation/outcome.ts";
import { defineOperation, get, post, required } from "../../definition.ts";
import { payloadList, plainSszPayload } from "../../params/ssz-payload.ts";
import { ACCEPTED, list, shape } from "../../schemas.ts";
import { submitAll } from "../../submissions.ts";

const signedChange = plainSszPayload(
  "a signed BLS to execution change",
  ssz.capella.SignedBLSToExecutionChange,
  shape("SignedBLSToExecutionChange"),
);

const getPoolBlsToExecutionChanges = defineOperation("beacon.getPoolBLSToExecutionChanges", {
  name: "get_v1_beacon_pool_bls_to_execution_changes",
  summary: "BLS to execution changes in the pool, until they are included in a finalized block; none before capella.",
  result: { name: "changes", schema: list(shape("SignedBLSToExecutionChange")) },
  failures: [],
  rest: [get("/eth/v1/beacon/pool/bls_to_execution_changes")],
  cost: "heavy",
  access: "read",
  example: {},
  handler: async ({ chain }) => ({ data: chain.pools.operations.listBlsToExecutionChanges() }),
});

const submitPoolBlsToExecutionChanges = defineOperation("beacon.submitPoolBLSToExecutionChange", {
  name: "post_v1_beacon_pool_bls_to_execution_changes",
  summary: "Submits BLS to execution changes. Each is validated on its own. From capella on.",
  params: {
    blsToExecutionChanges: required(
      payloadList("signed BLS to execution changes", signedChange),
      "Changes, each signed with the validator's BLS withdrawal key.",
      { name: "signed_changes" },
    ),
  },
  result: ACCEPTED,
  failures: ["rejected"],
  rest: [post("/eth/v1/beacon/pool/bls_to_execution_changes")],
  cost: "cheap",
  access: "submit",
  since: ForkName.capella,
  example: { stage: "operate", params: (chain) => [[chain.credentialsChange(13)]] },
  async handler({ chain: { processor }, broadcast }, { blsToExecutionChanges }) {
    await submitAll(
      blsToExecutionChanges,
      (changes) => sequentially(changes, (change) => processor.blsToExecutionChange(change)),
      (change) => broadcast.blsToExecutionChange(change),
    );
  },
});

export const blsToExecutionChangePoolMethods = [getPoolBlsToExecutionChanges, submitPoolBlsToExecutionChanges] as const;

async function sequentially<Item>(
  items: readonly Item[],
  processor: (item: Item) => Promise<void>,
): Promise<Outcome<void>[]> {
  const outcomes = [];
  const slice = new TimeSlice();
  for (const item of items) {
    outcomes.push(await outcomeOf(() => processor(item)));
    await slice.yieldIfDue();
  }
  return outcomes;
}
