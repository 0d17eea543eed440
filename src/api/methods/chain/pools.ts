import type { Type } from "@chainsafe/ssz";
import { ForkName, isForkPostElectra } from "@lodestar/params";
import {
  type Attestation,
  type AttesterSlashing,
  isElectraAttestation,
  type SingleAttestation,
  type Slot,
  ssz,
} from "@lodestar/types";
import { TimeSlice } from "../../../async/time-slice.ts";
import type { BeaconChain } from "../../../chain/chain.ts";
import type { ValidatedAttestation } from "../../../chain/validation/attestation.ts";
import { type Outcome, outcomeOf } from "../../../chain/validation/outcome.ts";
import { sszJson } from "../../../json/ssz-json.ts";
import type { MethodResponse } from "../../../server/method-table.ts";
import { withoutMeta } from "../../codecs.ts";
import type { ApiContext } from "../../context.ts";
import {
  defineEncoded,
  defineOperation,
  EMPTY_RESPONSE,
  each,
  get,
  optional,
  post,
  required,
} from "../../definition.ts";
import { encodeMeta } from "../../encoding.ts";
import { listBody } from "../../list-body.ts";
import {
  CONSENSUS_VERSION,
  requireAttestationVersion,
  requireSlashingVersion,
} from "../../params/consensus-version.ts";
import { attestation, attesterSlashing, proposerSlashing, signedVoluntaryExit } from "../../params/operations.ts";
import { slot, uint64 } from "../../params/scalars.ts";
import { payloadList, plainSszPayload } from "../../params/ssz-payload.ts";
import { isTrue, list, object, shape } from "../../schemas.ts";
import { submitAll, submitOne } from "../../submissions.ts";

const ACCEPTED = { name: "accepted", schema: isTrue };

const ATTESTATIONS = { name: "attestations", schema: list(shape("Attestation")) };
const COMMITTEE_INDEX = optional(uint64, "Committee index of the attestations.");
const ATTESTATION_FORMS = "Attestations with a single aggregation bit; from electra on SingleAttestation objects.";

const getPoolAttestations = defineEncoded({
  name: "get_v1_beacon_pool_attestations",
  summary: "Attestations in the pool, each in the format of its fork.",
  params: { slot: optional(slot, "Slot of the attestations."), committeeIndex: COMMITTEE_INDEX },
  result: ATTESTATIONS,
  failures: [],
  rest: [get("/eth/v1/beacon/pool/attestations")],
  cost: "heavy",
  access: "read",
  example: { params: (chain) => [String(chain.slot), "0"] },
  codec: ({ beacon }) => withoutMeta(beacon.getPoolAttestationsV2.resp),
  // Without a version, the list can contain attestations of several forks.
  async json({ chain }, filter) {
    return { body: await attestationsBody(chain, chain.pools.attestations.iterate(filter)) };
  },
});

const getPoolAttestationsV2 = defineOperation("beacon.getPoolAttestationsV2", {
  name: "get_v2_beacon_pool_attestations",
  summary: "Attestations in the pool, all in the format of one fork.",
  params: {
    slot: optional(
      slot,
      "Slot of the attestations, which also selects the fork. Default: the fork of the current slot.",
    ),
    committeeIndex: COMMITTEE_INDEX,
  },
  result: ATTESTATIONS,
  failures: [],
  rest: [get("/eth/v2/beacon/pool/attestations")],
  cost: "heavy",
  access: "read",
  example: { params: (chain) => [String(chain.slot), "0"] },
  async json({ chain }, filter, codec) {
    const { attestations, version } = attestationsOfOneFormat(chain, filter);
    return { body: await attestationsBody(chain, attestations), ...encodeMeta(codec.meta, { version }) };
  },
});

const submitPoolAttestations = defineEncoded({
  number: 15,
  name: "post_v1_beacon_pool_attestations",
  summary: "Submits unaggregated attestations. Each is validated on its own.",
  params: { attestations: each(attestation, ATTESTATION_FORMS) },
  result: ACCEPTED,
  failures: ["rejected"],
  rest: [post("/eth/v1/beacon/pool/attestations")],
  cost: "cheap",
  access: "submit",
  example: { stage: "attest", params: (chain) => chain.attestations() },
  codec: () => EMPTY_RESPONSE,
  handler: (context, { attestations }) => submitAttestations(context, attestations),
});

const submitPoolAttestationsV2 = defineOperation("beacon.submitPoolAttestationsV2", {
  name: "post_v2_beacon_pool_attestations",
  summary: "Submits unaggregated attestations. Each is validated on its own.",
  params: {
    signedAttestations: required(payloadList("attestations", attestation), ATTESTATION_FORMS, {
      name: "attestations",
    }),
    consensusVersion: CONSENSUS_VERSION,
  },
  result: ACCEPTED,
  failures: ["rejected"],
  rest: [post("/eth/v2/beacon/pool/attestations", { ssz: "body" })],
  cost: "cheap",
  access: "submit",
  example: { stage: "attest", params: async (chain) => [await chain.attestations(), chain.fork] },
  async handler(context, { signedAttestations, consensusVersion }) {
    const { config } = context.chain;
    for (const { data } of signedAttestations) {
      requireAttestationVersion(consensusVersion, config.getForkName(data.slot));
    }
    await submitAttestations(context, signedAttestations);
  },
});

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

const signedChange = plainSszPayload("a signed BLS to execution change", ssz.capella.SignedBLSToExecutionChange);

const getPoolBlsToExecutionChanges = defineOperation("beacon.getPoolBLSToExecutionChanges", {
  name: "get_v1_beacon_pool_bls_to_execution_changes",
  summary: "BLS to execution changes in the pool, until they are included in a finalized block; none before capella.",
  result: {
    name: "changes",
    schema: list(
      object({
        message: object({
          validator_index: shape("Uint64"),
          from_bls_pubkey: shape("Pubkey"),
          to_execution_address: shape("Address"),
        }),
        signature: shape("Signature"),
      }),
    ),
  },
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

const syncCommitteeMessage = plainSszPayload("a sync committee message", ssz.altair.SyncCommitteeMessage);

const submitPoolSyncCommitteeMessages = defineOperation("beacon.submitPoolSyncCommitteeSignatures", {
  name: "post_v1_beacon_pool_sync_committees",
  summary: "Submits sync committee messages. Each is validated on its own.",
  params: {
    signatures: required(payloadList("sync committee messages", syncCommitteeMessage), "The signed messages.", {
      name: "messages",
    }),
  },
  result: ACCEPTED,
  failures: ["rejected"],
  rest: [post("/eth/v1/beacon/pool/sync_committees")],
  cost: "cheap",
  access: "submit",
  since: ForkName.altair,
  example: { stage: "attest", params: async (chain) => [await chain.syncCommitteeMessages()] },
  async handler({ chain, broadcast }, { signatures }) {
    await submitAll(
      signatures,
      (messages) => chain.processor.syncMessages(messages),
      (message, { subcommittees }) => {
        for (const { subcommitteeIndex } of subcommittees) broadcast.syncMessage(message, subcommitteeIndex);
      },
    );
  },
});

export const poolMethods = [
  getPoolAttestations,
  submitPoolAttestations,
  getPoolAttesterSlashings,
  submitPoolAttesterSlashing,
  getPoolProposerSlashings,
  submitPoolProposerSlashing,
  getPoolVoluntaryExits,
  submitPoolVoluntaryExit,
  getPoolAttestationsV2,
  submitPoolAttestationsV2,
  getPoolAttesterSlashingsV2,
  submitPoolAttesterSlashingV2,
  getPoolBlsToExecutionChanges,
  submitPoolBlsToExecutionChanges,
] as const;

/** Pool methods listed with the validator methods. */
export const syncCommitteePoolMethods = [submitPoolSyncCommitteeMessages] as const;

function attestationsOfOneFormat(
  { config, clock, pools }: BeaconChain,
  { slot, committeeIndex }: { slot?: Slot; committeeIndex?: number },
): { attestations: Iterable<Attestation>; version: ForkName } {
  // An infinite slot would belong to forks that are not scheduled.
  const version = config.getForkName(Math.min(slot ?? clock.currentSlot, Number.MAX_SAFE_INTEGER));
  return { attestations: ofFormat(version, pools.attestations.iterate({ slot, committeeIndex })), version };
}

/** Filters attestations by format: a list has one version. Others are from before a fork and cannot be included any more. */
function* ofFormat(version: ForkName, attestations: Iterable<Attestation>): Generator<Attestation> {
  for (const attestation of attestations) {
    if (isElectraAttestation(attestation) === isForkPostElectra(version)) yield attestation;
  }
}

function attestationsBody(
  { config }: BeaconChain,
  attestations: Iterable<Attestation>,
): Promise<MethodResponse["body"]> {
  return listBody(attestations, (attestation) => {
    const type = config.getForkTypes(attestation.data.slot).Attestation as Type<Attestation>;
    return sszJson(type, type.serialize(attestation));
  });
}

/** Encodes slashings of all forks with the electra type, whose list limits are the largest. */
function attesterSlashingsBody({ pools }: BeaconChain): Promise<MethodResponse["body"]> {
  const type = ssz.electra.AttesterSlashing;
  return listBody(pools.operations.listAttesterSlashings(), (slashing) => sszJson(type, type.serialize(slashing)));
}

function currentVersion({ config, clock }: BeaconChain): { version: ForkName } {
  return { version: config.getForkName(clock.currentSlot) };
}

function submitAttestations(
  { chain, broadcast }: ApiContext,
  attestations: readonly SingleAttestation[],
): Promise<void> {
  return submitAll<SingleAttestation, ValidatedAttestation>(
    attestations,
    (items) => chain.processor.attestations(items),
    (attestation, { subnet }) => broadcast.attestation(attestation, subnet),
  );
}

function submitAttesterSlashing({ chain, broadcast }: ApiContext, attesterSlashing: AttesterSlashing): Promise<void> {
  return submitOne(
    attesterSlashing,
    (slashing) => chain.processor.attesterSlashing(slashing),
    (slashing) => broadcast.attesterSlashing(slashing),
  );
}

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
