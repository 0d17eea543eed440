import { defineOperation, get, post, required } from "../../definition.ts";
import { signedVoluntaryExit } from "../../params/operations.ts";
import { ACCEPTED, list, shape } from "../../schemas.ts";
import { submitOne } from "../../submissions.ts";

const getPoolVoluntaryExits = defineOperation("beacon.getPoolVoluntaryExits", {
  number: 20,
  name: "get_v1_beacon_pool_voluntary_exits",
  summary: "Voluntary exits in the pool, until they are included in a finalized block.",
  result: { name: "exits", schema: list(shape("SignedVoluntaryExit")) },
  failures: [],
  rest: [get("/eth/v1/beacon/pool/voluntary_exits")],
  cost: "heavy",
  access: "read",
  example: {},
  handler: async ({ chain }) => ({ data: chain.pools.operations.listVoluntaryExits() }),
});

const submitPoolVoluntaryExit = defineOperation("beacon.submitPoolVoluntaryExit", {
  number: 21,
  name: "post_v1_beacon_pool_voluntary_exits",
  summary: "Submits a signed voluntary exit.",
  params: { signedVoluntaryExit: required(signedVoluntaryExit, "Voluntary exit signed by its validator.") },
  result: ACCEPTED,
  failures: ["rejected"],
  rest: [post("/eth/v1/beacon/pool/voluntary_exits")],
  cost: "cheap",
  access: "submit",
  example: { stage: "operate", params: (chain) => [chain.voluntaryExit(12)] },
  async handler({ chain, broadcast }, { signedVoluntaryExit }) {
    await submitOne(
      signedVoluntaryExit,
      (exit) => chain.processor.voluntaryExit(exit),
      (exit) => broadcast.voluntaryExit(exit),
    );
  },
});

export const voluntaryExitPoolMethods = [getPoolVoluntaryExits, submitPoolVoluntaryExit] as const;
