import { EXTENDED_BEACON } from "./extended-beacon.ts";
import { EXTENDED_VALIDATOR, producedBlock, proposerDuties } from "./extended-validator.ts";
import { boolean, dictionary, either, isTrue, list, nothing, number, object, text } from "./json-schema.ts";
import { LIGHT_CLIENT } from "./light-client.ts";
import type { ResultForm } from "./result-form.ts";
import { shape } from "./shapes.ts";

const uint64 = shape("Uint64");
const root = shape("Root");
const bits = shape("Bits");

const checkpoints = {
  previous_justified: shape("Checkpoint"),
  current_justified: shape("Checkpoint"),
  finalized: shape("Checkpoint"),
};
const block: ResultForm = { name: "signed_block", schema: shape("SignedBeaconBlock") };
const state: ResultForm = { name: "state", schema: shape("BeaconState") };
const accepted: ResultForm = { name: "accepted", schema: isTrue };
const attesterDuties: ResultForm = { name: "duties", schema: list(shape("AttesterDuty")) };
const attestationData: ResultForm = { name: "attestation_data", schema: shape("AttestationData") };
const aggregate: ResultForm = { name: "attestation", schema: shape("Attestation") };
const rootOnly: ResultForm = { name: "root", schema: object({ root }) };
const spec: ResultForm = { name: "spec", schema: dictionary(either(text, list({}))) };

const CHAIN: Record<string, ResultForm> = {
  get_v1_beacon_genesis: {
    name: "genesis",
    schema: object({
      genesis_time: uint64,
      genesis_validators_root: root,
      genesis_fork_version: shape("Version"),
    }),
  },
  get_v1_beacon_states_root: rootOnly,
  get_v1_beacon_states_fork: { name: "fork", schema: shape("Fork") },
  get_v1_beacon_states_finality_checkpoints: { name: "checkpoints", schema: object(checkpoints) },
  get_v1_beacon_states_stateId_validators: { name: "validators", schema: list(shape("StateValidator")) },
  get_v1_beacon_states_stateId_validators_validatorId: { name: "validator", schema: shape("StateValidator") },
  get_v1_beacon_states_stateId_validator_balances: {
    name: "balances",
    schema: list(object({ index: uint64, balance: uint64 })),
  },
  get_v1_beacon_states_stateId_committees_epoch: { name: "committees", schema: list(shape("Committee")) },
  get_v1_beacon_headers: { name: "headers", schema: list(shape("BlockHeader")) },
  get_v1_beacon_headers_blockId: { name: "header", schema: shape("BlockHeader") },
  post_v1_beacon_blocks: { name: "status", schema: { type: "integer", enum: [200, 202] } },
  get_v1_beacon_blocks_blockId: block,
  get_v1_beacon_blocks_blockId_root: rootOnly,
  get_v1_beacon_blocks_blockId_attestations: { name: "attestations", schema: list(shape("Attestation")) },
};

const POOLS: Record<string, ResultForm> = {
  get_v1_beacon_pool_attestations: { name: "attestations", schema: list(shape("Attestation")) },
  post_v1_beacon_pool_attestations: accepted,
  get_v1_beacon_pool_attester_slashings: { name: "slashings", schema: list(shape("AttesterSlashing")) },
  post_v1_beacon_pool_attester_slashings: accepted,
  get_v1_beacon_pool_proposer_slashings: { name: "slashings", schema: list(shape("ProposerSlashing")) },
  post_v1_beacon_pool_proposer_slashings: accepted,
  get_v1_beacon_pool_voluntary_exits: { name: "exits", schema: list(shape("SignedVoluntaryExit")) },
  post_v1_beacon_pool_voluntary_exits: accepted,
};

const NODE: Record<string, ResultForm> = {
  get_v1_node_identity: {
    name: "identity",
    schema: object({
      peer_id: text,
      enr: text,
      p2p_addresses: list(text),
      discovery_addresses: list(text),
      metadata: object({ seq_number: uint64, attnets: bits }, { syncnets: bits, custody_group_count: uint64 }),
    }),
  },
  get_v1_node_peers: { name: "peers", schema: list(shape("Peer")) },
  get_v1_node_peers_peerId: { name: "peer", schema: shape("Peer") },
  get_v1_node_peer_count: {
    name: "peer_count",
    schema: object({ disconnected: uint64, connecting: uint64, connected: uint64, disconnecting: uint64 }),
  },
  get_v1_node_version: { name: "version", schema: object({ version: text }) },
  get_v1_node_syncing: {
    name: "syncing",
    schema: object({
      head_slot: uint64,
      sync_distance: uint64,
      is_syncing: boolean,
      is_optimistic: boolean,
      el_offline: boolean,
    }),
  },
  get_v1_node_health: { name: "health", schema: object({ health: { type: "integer" } }) },
};

const VALIDATOR: Record<string, ResultForm> = {
  get_v1_validator_duties_attester: attesterDuties,
  post_v1_validator_duties_attester: attesterDuties,
  get_v1_validator_duties_proposer: proposerDuties,
  get_v1_validator_block: producedBlock,
  post_v1_validator_block: accepted,
  get_v1_validator_attestation_data: attestationData,
  get_v1_validator_attestation: attestationData,
  get_v1_validator_aggregate_attestation: aggregate,
  get_v2_validator_aggregate_attestation: aggregate,
  get_v1_validator_aggregate_and_proof: aggregate,
  post_v1_validator_aggregate_and_proofs: accepted,
  post_v1_validator_aggregate_and_proof: accepted,
  post_v1_validator_beacon_committee_subscriptions: accepted,
  post_v1_validator_duties_sync_epoch: {
    name: "duties",
    schema: list(
      object({
        pubkey: shape("Pubkey"),
        validator_index: uint64,
        validator_sync_committee_indices: list(uint64),
      }),
    ),
  },
  post_v1_beacon_pool_sync_committees: accepted,
  get_v1_validator_sync_committee_contribution: {
    name: "contribution",
    schema: object({
      slot: uint64,
      beacon_block_root: root,
      subcommittee_index: uint64,
      aggregation_bits: bits,
      signature: shape("Signature"),
    }),
  },
  post_v1_validator_contribution_and_proofs: accepted,
};

const CONFIG_AND_DEBUG: Record<string, ResultForm> = {
  get_v1_config_fork_schedule: { name: "forks", schema: list(shape("Fork")) },
  get_v1_config_spec: spec,
  get_v1_config_deposit_contract: {
    name: "deposit_contract",
    schema: object({ chain_id: uint64, address: shape("Address") }),
  },
  getSpecPreset: spec,
  get_v1_debug_beacon_states_stateId: state,
  get_v2_debug_beacon_heads: {
    name: "heads",
    schema: list(object({ root, slot: uint64, execution_optimistic: boolean })),
  },
  get_v1_debug_beacon_heads: { name: "heads", schema: list(object({ root, slot: uint64 })) },
  "rpc.discover": { name: "openrpc_document", schema: object({ openrpc: text, info: { type: "object" } }) },
};

const peerInfo = object({
  peerId: text,
  addrs: list(text),
  protocols: list(text),
  protoVersion: text,
  agentVersion: text,
});

const topicPeers = dictionary(list(object({ peerId: text, score: number })));

const EXTENSIONS: Record<string, ResultForm> = {
  getBeaconHead: { name: "head_slot", schema: uint64 },
  getChainHead: {
    name: "chain_head",
    schema: object({
      head_slot: uint64,
      head_block_root: root,
      finalized_slot: uint64,
      finalized_block_root: root,
      justified_slot: uint64,
      justified_block_root: root,
    }),
  },
  getNodeVersion: { name: "version", schema: text },
  peers: {
    name: "peers",
    schema: object({ peers: list(object({ id: text, info: peerInfo, connectionState: text, score: number })) }),
  },
  getSyncing: { name: "is_syncing", schema: boolean },
  getNetworkPeerId: { name: "peer_id", schema: text },
  getNetworkPeers: { name: "peer_ids", schema: list(text) },
  getNetworkEnr: { name: "enr", schema: text },
  getBeaconBlock: { name: "signed_block", schema: either(shape("SignedBeaconBlock"), nothing) },
  getBeaconState: { name: "state", schema: either(shape("BeaconState"), nothing) },
  setLogLevel: accepted,
  setGraffiti: accepted,
  getEth1Chain: {
    name: "eth1_blocks",
    schema: list(
      object({
        number: uint64,
        timestamp: uint64,
        deposits: list(shape("DepositData")),
        voteData: shape("Eth1Data"),
      }),
    ),
  },
  getEth1ProposalData: {
    name: "proposal_data",
    schema: object({ vote: shape("Eth1Data"), deposits: list(shape("Deposit")), hasMissingDeposits: boolean }),
  },
  debug_getChronosFutures: {
    name: "futures",
    schema: list(object({ id: text, child_id: text, procname: text, filename: text, line: number, state: text })),
  },
  debug_getGossipSubPeers: {
    name: "gossip_peers",
    schema: object({
      gossipsub: topicPeers,
      mesh: topicPeers,
      colocationPeers: list(dictionary(list(text))),
      peerStats: list(object({ peerId: text, null: boolean, connected: boolean, expire: text, score: number })),
      allPeers: list(object({ connected: boolean, peerId: text })),
    }),
  },
};

const EVENTS: Record<string, ResultForm> = {
  subscribe: { name: "subscription", schema: text },
  unsubscribe: { name: "ended", schema: boolean },
};

const RESULTS = new Map(
  Object.entries({
    ...CHAIN,
    ...POOLS,
    ...NODE,
    ...VALIDATOR,
    ...EXTENDED_VALIDATOR,
    ...LIGHT_CLIENT,
    ...CONFIG_AND_DEBUG,
    ...EXTENSIONS,
    ...EVENTS,
    ...EXTENDED_BEACON,
  }),
);

/** What a method of the catalogue answers with; undefined for a name that is none. */
export function resultOf(name: string): ResultForm | undefined {
  return RESULTS.get(name);
}
