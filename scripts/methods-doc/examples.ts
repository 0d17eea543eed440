import { ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import type { Example } from "./example.ts";
import { type ExampleChain, SUBSCRIPTION_ID } from "./example-chain.ts";
import { EXTENDED_BEACON_EXAMPLES } from "./extended-beacon-examples.ts";
import { EXTENDED_VALIDATOR_EXAMPLES } from "./extended-validator-examples.ts";
import {
  attestationDataRoot,
  committeeDuties,
  proposal,
  selectionProof,
  signedAggregate,
  signedAttestation,
  signedBlock,
  signedContribution,
  syncMessage,
  syncSubcommittee,
} from "./signed-examples.ts";

const given = (...params: unknown[]): Example => ({ params: () => params });
const nothing = given();

/** One call of each method. They are made in this order, on one chain, so that the later ones see what the earlier did. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  // Duties of the slot after the history, and what its proposer does.
  get_v1_validator_duties_proposer: { params: async (chain) => [await reachedEpoch(chain)] },
  get_v2_validator_duties_proposer_epoch: { params: async (chain) => [await reachedEpoch(chain)] },
  get_v3_validator_blocks_slot: {
    params: async (chain) => {
      const { randaoReveal } = await proposal(chain, chain.slot);
      return [String(chain.slot), randaoReveal, "an example"];
    },
  },
  get_v1_validator_duties_attester: { params: async (chain) => [await reachedEpoch(chain), [pubkey(chain, 3)]] },
  post_v1_validator_duties_attester: { params: async (chain) => [await reachedEpoch(chain), ["3", "4"]] },
  get_v1_validator_block: {
    params: async (chain) => {
      const { randaoReveal } = await proposal(chain, chain.slot);
      return [String(chain.slot), randaoReveal, "an example"];
    },
  },
  post_v1_beacon_blocks: { params: async (chain) => [await signedBlock(chain, chain.slot)] },

  // What its attesters do.
  post_v1_validator_beacon_committee_subscriptions: {
    params: async (chain) => {
      const { slot } = chain;
      const [duty] = await committeeDuties(chain, slot);
      const { validator_index, committee_index } = duty!;
      return [[{ validator_index, committee_index, committees_at_slot: "1", slot: String(slot), is_aggregator: true }]];
    },
  },
  get_v1_validator_attestation_data: { params: (chain) => [String(chain.slot), "0"] },
  get_v1_validator_attestation: { params: (chain) => [String(chain.slot), "0"] },
  post_v1_beacon_pool_attestations: {
    params: async (chain) => {
      const [first, ...others] = await committeeDuties(chain, chain.slot);
      for (const duty of others) {
        await chain.result("post_v1_beacon_pool_attestations", await signedAttestation(chain, duty));
      }
      return [await signedAttestation(chain, first!)];
    },
  },
  get_v1_beacon_pool_attestations: { params: (chain) => [String(chain.slot)] },
  get_v1_validator_aggregate_attestation: {
    params: async (chain) => [String(chain.slot), await attestationDataRoot(chain, chain.slot)],
  },
  get_v2_validator_aggregate_attestation: {
    params: async (chain) => [String(chain.slot), await attestationDataRoot(chain, chain.slot), "0"],
  },
  get_v1_validator_aggregate_and_proof: {
    params: async (chain) => [await chain.result("get_v1_validator_attestation_data", String(chain.slot), "0")],
  },
  post_v1_validator_aggregate_and_proofs: { params: async (chain) => [await signedAggregate(chain, chain.slot)] },
  post_v1_validator_aggregate_and_proof: { params: async (chain) => [await signedAggregate(chain, chain.slot)] },
  post_v2_validator_aggregate_and_proofs: { params: async (chain) => [[await signedAggregate(chain, chain.slot)]] },
  post_v1_validator_liveness_epoch: { params: async (chain) => [await reachedEpoch(chain), ["3", "4"]] },
  post_v1_validator_beacon_committee_selections: {
    params: (chain) => {
      const selection_proof = selectionProof(chain, 3, chain.slot);
      return [[{ validator_index: "3", slot: String(chain.slot), selection_proof }]];
    },
  },

  // Operations, which the next block then includes.
  post_v1_beacon_pool_voluntary_exits: {
    params: ({ operations }) => [ssz.phase0.SignedVoluntaryExit.toJson(operations.exit(1))],
  },
  get_v1_beacon_pool_voluntary_exits: nothing,
  post_v1_beacon_pool_proposer_slashings: {
    params: ({ operations, slot }) => [ssz.phase0.ProposerSlashing.toJson(operations.doubleProposal(2, slot))],
  },
  get_v1_beacon_pool_proposer_slashings: nothing,
  post_v1_beacon_pool_attester_slashings: {
    params: ({ operations }) => [ssz.phase0.AttesterSlashing.toJson(operations.doubleVote([3, 4], 4))],
  },
  get_v1_beacon_pool_attester_slashings: nothing,
  post_v1_validator_block: {
    params: async (chain) => {
      await chain.reach(chain.slot + 1);
      return [await signedBlock(chain, chain.slot + 1)];
    },
  },

  // The sync committee, which phase0 does not have.
  post_v1_validator_duties_sync_epoch: {
    fork: "altair",
    params: async (chain) => [await reachedEpoch(chain), ["3"]],
  },
  post_v1_beacon_pool_sync_committees: {
    fork: "altair",
    params: async (chain) => {
      const [first, ...others] = await syncSubcommittee(chain, chain.slot);
      const messages = await Promise.all(others.map((validator) => syncMessage(chain, chain.slot, validator)));
      await chain.result("post_v1_beacon_pool_sync_committees", messages);
      return [[await syncMessage(chain, chain.slot, first!)]];
    },
  },
  get_v1_validator_sync_committee_contribution: {
    fork: "altair",
    params: async (chain) => [String(chain.slot), "0", await headRoot(chain)],
  },
  post_v1_validator_contribution_and_proofs: {
    fork: "altair",
    params: async (chain) => [[await signedContribution(chain, chain.slot)]],
  },
  post_v1_validator_sync_committee_subscriptions: {
    fork: "altair",
    params: () => [[{ validator_index: "3", sync_committee_indices: ["0", "9"], until_epoch: "8" }]],
  },
  post_v1_validator_sync_committee_selections: {
    fork: "altair",
    params: (chain) => {
      const selection_proof = selectionProof(chain, 3, chain.slot);
      return [[{ validator_index: "3", slot: String(chain.slot), subcommittee_index: "0", selection_proof }]];
    },
  },

  ...EXTENDED_VALIDATOR_EXAMPLES,

  get_v1_beacon_genesis: nothing,
  get_v1_beacon_states_root: given("head"),
  get_v1_beacon_states_fork: given("finalized"),
  get_v1_beacon_states_finality_checkpoints: given("head"),
  get_v1_beacon_states_stateId_validators: given("head", ["2", "5"], ["active"]),
  get_v1_beacon_states_stateId_validators_validatorId: { params: (chain) => ["head", pubkey(chain, 2)] },
  get_v1_beacon_states_stateId_validator_balances: given("head", ["0", "1", "2"]),
  get_v1_beacon_states_stateId_committees_epoch: given("head", "4", "0", "33"),
  get_v1_beacon_headers: nothing,
  get_v1_beacon_headers_blockId: given("finalized"),
  get_v1_beacon_blocks_blockId: given("head"),
  get_v1_beacon_blocks_blockId_root: given(12),
  get_v1_beacon_blocks_blockId_attestations: given("12"),

  ...EXTENDED_BEACON_EXAMPLES,

  get_v1_node_identity: nothing,
  get_v1_node_peers: given(["connected"], ["outbound"]),
  get_v1_node_peers_peerId: given("16Uiu2HAmVTCy471PWbZzNkrubXg32xpL89GJxVPBoqYBkiBW95ir"),
  get_v1_node_peer_count: nothing,
  get_v1_node_version: nothing,
  get_v1_node_syncing: nothing,
  get_v1_node_health: nothing,

  get_v1_config_fork_schedule: nothing,
  get_v1_config_spec: nothing,
  get_v1_config_deposit_contract: nothing,
  getSpecPreset: nothing,
  get_v1_debug_beacon_states_stateId: given("finalized"),
  get_v2_debug_beacon_heads: nothing,
  get_v1_debug_beacon_heads: nothing,

  getBeaconHead: nothing,
  getChainHead: nothing,
  getNodeVersion: nothing,
  peers: nothing,
  getSyncing: nothing,
  getNetworkPeerId: nothing,
  getNetworkPeers: nothing,
  getNetworkEnr: nothing,
  getBeaconBlock: given("3"),
  getBeaconState: given("4096"),
  setLogLevel: given("INFO; DEBUG:chain; DISABLED:rpc"),
  setGraffiti: given("hello from a reader"),
  getEth1Chain: nothing,
  getEth1ProposalData: nothing,
  debug_getChronosFutures: nothing,
  debug_getGossipSubPeers: nothing,
  subscribe: given(["head", "finalized_checkpoint"]),
  unsubscribe: given(SUBSCRIPTION_ID),
  "rpc.discover": nothing,
};

async function reachedEpoch(chain: ExampleChain): Promise<string> {
  await chain.reach(chain.slot);
  return String(Math.floor(chain.slot / 8));
}

function pubkey({ devChain }: ExampleChain, validator: number): string {
  return toHex(devChain.keys.publicKey(validator)!);
}

async function headRoot(chain: ExampleChain): Promise<string> {
  return (await chain.result<{ root: string }>("get_v1_beacon_blocks_blockId_root", "head")).root;
}
