import { ForkName } from "@lodestar/params";
import { get, type RestTwin } from "../../src/catalogue/entry.ts";
import { CONNECTED_OUT } from "../support/peers.ts";
import { EXTENDED_BEACON_CASES } from "./extended-beacon-cases.ts";
import { EXTENDED_VALIDATOR_CASES, LIGHT_CLIENT_CASES } from "./extended-validator-cases.ts";
import type { MethodCase } from "./method-case.ts";

const UNSUPPORTED = -32004;

const given = (...params: unknown[]): MethodCase => ({ params: () => params });
const nothing = given();

const inV4 = (operation: RestTwin, younger: readonly string[] = []): MethodCase["twin"] => ({
  [ForkName.fulu]: { document: "v4.0.0", operation, younger },
});
const inBoth = (operation: RestTwin): MethodCase["twin"] => ({
  [ForkName.phase0]: { document: "v2.5.0", operation },
  [ForkName.fulu]: { document: "v4.0.0", operation },
});

const SIGNED_BLOCK: MethodCase = { params: async (chain) => [await chain.signedBlock()] };
const ATTESTER_DUTIES: MethodCase = {
  params: (chain) => [chain.epoch, ["0", chain.pubkey(1), chain.pubkey(2).slice(2)]],
};
const ATTESTATION_DATA: MethodCase = { params: (chain) => [chain.slot, "0"] };
const AGGREGATE: MethodCase = {
  params: async (chain) => [chain.slot, await chain.attestationDataRoot()],
  refused: { [ForkName.fulu]: UNSUPPORTED },
};
const SIGNED_AGGREGATE: MethodCase = { params: async (chain) => [await chain.signedAggregate()] };

const NOT_BY_POST = { [ForkName.phase0]: UNSUPPORTED, [ForkName.fulu]: UNSUPPORTED };
const NO_SYNC_COMMITTEES = { [ForkName.phase0]: UNSUPPORTED };

/**
 * One call of every method. They are made in this order on one chain: a slot is lived through, so that the pools hold
 * something when they are asked.
 */
export const CASES: Readonly<Record<string, MethodCase>> = {
  // The slot has no block yet.
  get_v1_validator_duties_proposer: { params: (chain) => [chain.epoch] },
  get_v2_validator_duties_proposer_epoch: {
    params: (chain) => [chain.epoch],
    twin: inBoth(get("/eth/v1/validator/duties/proposer/{epoch}")),
  },
  get_v3_validator_blocks_slot: {
    params: async (chain) => [chain.slot, await chain.randaoReveal(), "mine", false, "100"],
    twin: { [ForkName.phase0]: { document: "v2.5.0", operation: get("/eth/v2/validator/blocks/{slot}") } },
  },
  get_v1_validator_duties_attester: {
    ...ATTESTER_DUTIES,
    twin: inBoth({ verb: "POST", path: "/eth/v1/validator/duties/attester/{epoch}" }),
  },
  post_v1_validator_duties_attester: ATTESTER_DUTIES,
  get_v1_validator_block: {
    params: async (chain) => [chain.slot, await chain.randaoReveal(), "mine", false],
    twin: inV4(get("/eth/v3/validator/blocks/{slot}"), [
      "execution_payload_blinded",
      "execution_payload_value",
      "consensus_block_value",
    ]),
  },
  post_v1_beacon_blocks: { ...SIGNED_BLOCK, twin: inV4({ verb: "POST", path: "/eth/v2/beacon/blocks" }) },
  post_v1_validator_block: SIGNED_BLOCK,

  // Validators vote for it.
  get_v1_validator_attestation_data: ATTESTATION_DATA,
  get_v1_validator_attestation: { ...ATTESTATION_DATA, twin: inBoth(get("/eth/v1/validator/attestation_data")) },
  post_v1_beacon_pool_attestations: {
    params: (chain) => chain.attestations(),
    twin: inV4({ verb: "POST", path: "/eth/v2/beacon/pool/attestations" }),
  },
  get_v1_beacon_pool_attestations: {
    params: (chain) => [chain.slot, 0],
    twin: inV4(get("/eth/v2/beacon/pool/attestations"), ["version"]),
  },
  get_v1_validator_aggregate_attestation: AGGREGATE,
  get_v1_validator_aggregate_and_proof: {
    ...AGGREGATE,
    twin: inBoth(get("/eth/v1/validator/aggregate_attestation")),
  },
  get_v2_validator_aggregate_attestation: {
    params: async (chain) => [chain.slot, await chain.attestationDataRoot(), 0],
    // The operation is younger than v2.5.0; the second of its forms is that of before Electra.
    twin: {
      [ForkName.phase0]: {
        document: "v4.0.0",
        operation: get("/eth/v2/validator/aggregate_attestation"),
        variant: 1,
      },
    },
  },
  post_v1_validator_aggregate_and_proofs: {
    ...SIGNED_AGGREGATE,
    twin: inV4({ verb: "POST", path: "/eth/v2/validator/aggregate_and_proofs" }),
  },
  post_v1_validator_aggregate_and_proof: SIGNED_AGGREGATE,
  ...EXTENDED_VALIDATOR_CASES,
  post_v1_validator_beacon_committee_subscriptions: { params: (chain) => [chain.subscription()] },
  post_v1_validator_duties_sync_epoch: {
    params: (chain) => [chain.epoch, ["0", "1"]],
    refused: NO_SYNC_COMMITTEES,
  },
  post_v1_beacon_pool_sync_committees: {
    params: async (chain) => [await chain.syncMessages()],
    refused: NO_SYNC_COMMITTEES,
  },
  get_v1_validator_sync_committee_contribution: {
    params: async (chain) => {
      if (chain.fork === ForkName.phase0) return [chain.slot, 0, chain.chain.head.root];
      return [chain.slot, (await chain.syncCommitteeSeat()).subcommitteeIndex, chain.chain.head.root];
    },
    refused: NO_SYNC_COMMITTEES,
  },
  post_v1_validator_contribution_and_proofs: {
    params: async (chain) => [[await chain.signedContribution()]],
    refused: NO_SYNC_COMMITTEES,
  },

  // Some do what they should not, or leave.
  post_v1_beacon_pool_attester_slashings: {
    params: (chain) => [chain.attesterSlashing(9, 10)],
    twin: inV4({ verb: "POST", path: "/eth/v2/beacon/pool/attester_slashings" }),
  },
  get_v1_beacon_pool_attester_slashings: {
    ...nothing,
    twin: inV4(get("/eth/v2/beacon/pool/attester_slashings"), ["version"]),
  },
  post_v1_beacon_pool_proposer_slashings: { params: (chain) => [chain.proposerSlashing(11)] },
  get_v1_beacon_pool_proposer_slashings: nothing,
  post_v1_beacon_pool_voluntary_exits: { params: (chain) => [chain.voluntaryExit(12)] },
  get_v1_beacon_pool_voluntary_exits: nothing,

  // What the chain holds.
  get_v1_beacon_genesis: nothing,
  get_v1_beacon_states_root: given("head"),
  get_v1_beacon_states_fork: given("finalized"),
  get_v1_beacon_states_finality_checkpoints: given("justified"),
  get_v1_beacon_states_stateId_validators: {
    params: (chain) => ["head", ["0", chain.pubkey(3)], ["active", "pending_queued"]],
  },
  get_v1_beacon_states_stateId_validators_validatorId: { params: (chain) => ["genesis", chain.pubkey(5)] },
  get_v1_beacon_states_stateId_validator_balances: given("head", ["1", 2]),
  get_v1_beacon_states_stateId_committees_epoch: { params: (chain) => ["head", chain.epoch, 0, String(chain.slot)] },
  get_v1_beacon_headers: { params: (chain) => [chain.slot - 1] },
  get_v1_beacon_headers_blockId: given("head"),
  get_v1_beacon_blocks_blockId: { params: (chain) => [chain.chain.head.root] },
  get_v1_beacon_blocks_blockId_root: given("finalized"),
  get_v1_beacon_blocks_blockId_attestations: {
    params: (chain) => [String(chain.slot - 1)],
    twin: inV4(get("/eth/v2/beacon/blocks/{block_id}/attestations"), ["version"]),
  },
  get_v1_debug_beacon_states_stateId: given("head"),
  get_v2_debug_beacon_heads: nothing,
  get_v1_debug_beacon_heads: nothing,
  getBeaconHead: nothing,
  getChainHead: nothing,
  getBeaconBlock: { params: (chain) => [chain.slot - 1], twin: inBoth(get("/eth/v2/beacon/blocks/{block_id}")) },
  getBeaconState: { params: (chain) => [chain.slot - 1], twin: inBoth(get("/eth/v2/debug/beacon/states/{state_id}")) },
  getEth1Chain: nothing,
  getEth1ProposalData: nothing,

  ...EXTENDED_BEACON_CASES,

  ...LIGHT_CLIENT_CASES,

  // The node and its surroundings.
  get_v1_node_identity: nothing,
  get_v1_node_peers: given(["connected", "disconnected"], ["inbound", "outbound"]),
  get_v1_node_peers_peerId: given(CONNECTED_OUT.peerId),
  get_v1_node_peer_count: nothing,
  get_v1_node_version: nothing,
  get_v1_node_syncing: nothing,
  get_v1_node_health: given(299),
  get_v1_config_fork_schedule: nothing,
  get_v1_config_spec: nothing,
  get_v1_config_deposit_contract: nothing,
  getSpecPreset: nothing,
  getNodeVersion: nothing,
  getSyncing: nothing,
  peers: nothing,
  getNetworkPeerId: nothing,
  getNetworkPeers: nothing,
  getNetworkEnr: nothing,
  debug_getGossipSubPeers: nothing,
  debug_getChronosFutures: nothing,
  setLogLevel: given("INFO; TRACE:none"),
  setGraffiti: given("0xff01"),
  "rpc.discover": nothing,

  // Nobody but a WebSocket client hears of events.
  subscribe: { ...given(["head"]), refused: NOT_BY_POST },
  unsubscribe: { ...given("0x1234"), refused: NOT_BY_POST },
};
