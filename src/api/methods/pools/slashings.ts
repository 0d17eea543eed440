import type { ForkName } from "@lodestar/params";
import { type AttesterSlashing, ssz } from "@lodestar/types";
import type { BeaconChain } from "../../../chain/chain.ts";
import { sszJson } from "../../../json/ssz-json.ts";
import type { MethodResponse } from "../../../server/method-table.ts";
import { withoutMeta } from "../../codecs.ts";
import type { ApiContext } from "../../context.ts";
import { defineEncoded, defineOperation, EMPTY_RESPONSE, get, post, required } from "../../definition.ts";
import { encodeMeta } from "../../encoding.ts";
import { listBody } from "../../list-body.ts";
import { CONSENSUS_VERSION, requireSlashingVersion } from "../../params/consensus-version.ts";
import { attesterSlashing, proposerSlashing } from "../../params/operations.ts";
import { ACCEPTED, list, shape } from "../../schemas.ts";
import { submitOne } from "../../submissions.ts";

const ATTESTER_SLASHINGS = { name: "slashings", schema: list(shape("AttesterSlashing")) };
const ATTESTER_SLASHING = required(attesterSlashing, "Two conflicting attestations.");

const getPoolAttesterSlashings = defineEncoded({
  number: 16,
  name: "get_v1_beacon_pool_attester_slashings",
  summary: "Attester slashings in the pool, until they are included in a finalized block.",
  result: ATTESTER_SLASHINGS,
  failures: [],
  rest: [get("/eth/v1/beacon/pool/attester_slashings")],
  cost: "heavy",
  access: "read",
  example: {},
  codec: ({ beacon }) => withoutMeta(beacon.getPoolAttesterSlashingsV2.resp),
  json: async ({ chain }) => ({ body: await attesterSlashingsBody(chain) }),
});

const getPoolAttesterSlashingsV2 = defineOperation("beacon.getPoolAttesterSlashingsV2", {
  name: "get_v2_beacon_pool_attester_slashings",
  summary: "Attester slashings in the pool, until they are included in a finalized block.",
  result: ATTESTER_SLASHINGS,
  failures: [],
  rest: [get("/eth/v2/beacon/pool/attester_slashings")],
  cost: "heavy",
  access: "read",
  example: {},
  json: async ({ chain }, _, codec) => ({
    body: await attesterSlashingsBody(chain),
    ...encodeMeta(codec.meta, currentVersion(chain)),
  }),
});

const submitPoolAttesterSlashing = defineEncoded({
  number: 17,
  name: "post_v1_beacon_pool_attester_slashings",
  summary: "Submits an attester slashing.",
  params: { attesterSlashing: ATTESTER_SLASHING },
  result: ACCEPTED,
  failures: ["rejected"],
  rest: [post("/eth/v1/beacon/pool/attester_slashings")],
  cost: "cheap",
  access: "submit",
  example: { stage: "operate", params: (chain) => [chain.attesterSlashing(9, 10)] },
  codec: () => EMPTY_RESPONSE,
  handler: (context, { attesterSlashing }) => submitAttesterSlashing(context, attesterSlashing),
});

const submitPoolAttesterSlashingV2 = defineOperation("beacon.submitPoolAttesterSlashingsV2", {
  name: "post_v2_beacon_pool_attester_slashings",
  summary: "Submits an attester slashing.",
  params: { attesterSlashing: ATTESTER_SLASHING, consensusVersion: CONSENSUS_VERSION },
  result: ACCEPTED,
  failures: ["rejected"],
  rest: [post("/eth/v2/beacon/pool/attester_slashings")],
  cost: "cheap",
  access: "submit",
  example: { stage: "operate", params: (chain) => [chain.attesterSlashing(9, 10), chain.fork] },
  async handler(context, { attesterSlashing, consensusVersion }) {
    const { attestation1, attestation2 } = attesterSlashing;
    const slots = [attestation1, attestation2].map(({ data }) => Number(data.slot));
    requireSlashingVersion(consensusVersion, context.chain.config.getForkName(Math.max(...slots)));
    await submitAttesterSlashing(context, attesterSlashing);
  },
});

const getPoolProposerSlashings = defineOperation("beacon.getPoolProposerSlashings", {
  number: 18,
  name: "get_v1_beacon_pool_proposer_slashings",
  summary: "Proposer slashings in the pool, until they are included in a finalized block.",
  result: { name: "slashings", schema: list(shape("ProposerSlashing")) },
  failures: [],
  rest: [get("/eth/v1/beacon/pool/proposer_slashings")],
  cost: "heavy",
  access: "read",
  example: {},
  handler: async ({ chain }) => ({ data: chain.pools.operations.listProposerSlashings() }),
});

const submitPoolProposerSlashing = defineOperation("beacon.submitPoolProposerSlashings", {
  number: 19,
  name: "post_v1_beacon_pool_proposer_slashings",
  summary: "Submits a proposer slashing.",
  params: { proposerSlashing: required(proposerSlashing, "Two conflicting headers of a proposer for one slot.") },
  result: ACCEPTED,
  failures: ["rejected"],
  rest: [post("/eth/v1/beacon/pool/proposer_slashings")],
  cost: "cheap",
  access: "submit",
  example: { stage: "operate", params: (chain) => [chain.proposerSlashing(11)] },
  async handler({ chain, broadcast }, { proposerSlashing }) {
    await submitOne(
      proposerSlashing,
      (slashing) => chain.processor.proposerSlashing(slashing),
      (slashing) => broadcast.proposerSlashing(slashing),
    );
  },
});

export const slashingPoolMethods = [
  getPoolAttesterSlashings,
  submitPoolAttesterSlashing,
  getPoolProposerSlashings,
  submitPoolProposerSlashing,
  getPoolAttesterSlashingsV2,
  submitPoolAttesterSlashingV2,
] as const;

/** Encodes slashings from all forks with the electra type, whose list limits are the largest. */
function attesterSlashingsBody({ pools }: BeaconChain): Promise<MethodResponse["body"]> {
  const type = ssz.electra.AttesterSlashing;
  return listBody(pools.operations.listAttesterSlashings(), (slashing) => sszJson(type, type.serialize(slashing)));
}

function currentVersion({ config, clock }: BeaconChain): { version: ForkName } {
  return { version: config.getForkName(clock.currentSlot) };
}

function submitAttesterSlashing({ chain, broadcast }: ApiContext, attesterSlashing: AttesterSlashing): Promise<void> {
  return submitOne(
    attesterSlashing,
    (slashing) => chain.processor.attesterSlashing(slashing),
    (slashing) => broadcast.attesterSlashing(slashing),
  );
}
