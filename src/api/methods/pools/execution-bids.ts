import { ForkName } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { defineOperation, post, required } from "../../definition.ts";
import { CONSENSUS_VERSION, requireVersion } from "../../params/consensus-version.ts";
import { plainSszPayload } from "../../params/ssz-payload.ts";
import { refuseBeforeGloas } from "../../preconditions.ts";
import { ACCEPTED, shape } from "../../schemas.ts";
import { submitOne } from "../../submissions.ts";

const publishExecutionPayloadBid = defineOperation("beacon.publishExecutionPayloadBid", {
  name: "post_v1_beacon_execution_payload_bids",
  summary: "Submits a builder's bid for the current or the next slot, which the proposer's preferences have to allow.",
  params: {
    signedExecutionPayloadBid: required(
      plainSszPayload(
        "a signed execution payload bid",
        ssz.gloas.SignedExecutionPayloadBid,
        shape("SignedExecutionPayloadBid"),
      ),
      "Bid signed by its builder.",
      { name: "signed_bid" },
    ),
    consensusVersion: CONSENSUS_VERSION,
  },
  result: ACCEPTED,
  failures: ["rejected"],
  rest: [post("/eth/v1/beacon/execution_payload_bids", { ssz: "body" })],
  cost: "duty",
  access: "submit",
  since: ForkName.gloas,
  example: { stage: "operate", params: async (chain) => [await chain.signedBid(), ForkName.gloas] },
  async handler({ chain, broadcast }, { signedExecutionPayloadBid, consensusVersion }) {
    const { slot } = signedExecutionPayloadBid.message;
    refuseBeforeGloas(chain.config, slot, "Execution payload bids");
    requireVersion(consensusVersion, chain.config.getForkName(slot));
    await submitOne(
      signedExecutionPayloadBid,
      (bid) => chain.processor.executionBid(bid),
      (bid) => broadcast.executionBid(bid),
    );
  },
});

export const executionBidPoolMethods = [publishExecutionPayloadBid] as const;
