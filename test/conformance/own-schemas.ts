import { z } from "zod";

/** Results of methods without a twin, or whose twin responds with a status only. */

const uint64 = z.string().regex(/^(?:0|[1-9][0-9]{0,19})$/);
const root = z.string().regex(/^0x[0-9a-f]{64}$/);
const bytes = (count: number) => z.string().regex(new RegExp(`^0x[0-9a-f]{${count * 2}}$`));
const text = z.string().min(1);
const peerId = z.string().regex(/^(?:Qm|16Uiu2)[1-9A-HJ-NP-Za-km-z]+$/);

const accepted = z.literal(true);

const depositData = z.strictObject({
  pubkey: bytes(48),
  withdrawal_credentials: bytes(32),
  amount: uint64,
  signature: bytes(96),
});
const eth1Data = z.strictObject({ deposit_root: root, deposit_count: uint64, block_hash: root });

const gossipPeer = z.strictObject({
  peerId,
  score: z.number(),
  iWantBudget: z.number(),
  iHaveBudget: z.number(),
  outbound: z.boolean(),
  appScore: z.number(),
  behaviourPenalty: z.number(),
  sendConnAvail: z.boolean(),
  closed: z.boolean(),
  atEof: z.boolean(),
  address: text,
  backoff: text,
  agent: text,
});
const peersOfTopics = z.record(text, z.array(gossipPeer));

/** Of one path. */
const proof = z.strictObject({
  root,
  slot: uint64,
  state_root: root,
  block_root: root,
  timestamp: uint64.nullable(),
  gindex: uint64,
  depth: uint64,
  index: uint64,
  leaf: root,
  branch: z.array(root).min(1),
  value: text,
  offset: uint64.nullable(),
  bit: z.null(),
});

const specValue = z.union([z.string(), z.array(z.record(z.string(), z.string()))]);

export const OWN_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  post_v1_beacon_blocks: z.literal([200, 202]),
  post_v2_beacon_blocks: z.literal([200, 202]),
  post_v2_beacon_blinded_blocks: z.literal([200, 202]),
  post_v2_beacon_pool_attestations: accepted,
  post_v2_beacon_pool_attester_slashings: accepted,
  post_v1_beacon_pool_bls_to_execution_changes: accepted,
  get_v2_node_version: z.strictObject({
    beacon_node: z.strictObject({ code: z.literal("XX"), name: text, version: text, commit: bytes(4) }),
  }),
  post_v1_validator_block: accepted,
  post_v1_beacon_pool_attestations: accepted,
  post_v1_beacon_pool_attester_slashings: accepted,
  post_v1_beacon_pool_proposer_slashings: accepted,
  post_v1_beacon_pool_voluntary_exits: accepted,
  post_v1_beacon_pool_sync_committees: accepted,
  post_v1_validator_aggregate_and_proofs: accepted,
  post_v1_validator_aggregate_and_proof: accepted,
  post_v1_validator_beacon_committee_subscriptions: accepted,
  post_v1_validator_contribution_and_proofs: accepted,
  post_v2_validator_aggregate_and_proofs: accepted,
  post_v1_validator_prepare_beacon_proposer: accepted,
  post_v1_validator_register_validator: accepted,
  post_v1_validator_sync_committee_subscriptions: accepted,
  get_v1_node_health: z.strictObject({ health: z.int().min(100).max(599) }),
  get_v1_debug_beacon_heads: z.array(z.strictObject({ root, slot: uint64 })).min(1),
  getSpecPreset: z.intersection(
    z.record(z.string(), specValue),
    z.object({ SLOTS_PER_EPOCH: uint64, slots_per_epoch: uint64, GENESIS_FORK_VERSION: bytes(4) }),
  ),
  getBeaconHead: uint64,
  getChainHead: z.strictObject({
    head_slot: uint64,
    head_block_root: root,
    finalized_slot: uint64,
    finalized_block_root: root,
    justified_slot: uint64,
    justified_block_root: root,
  }),
  getNodeVersion: text,
  peers: z.strictObject({
    peers: z
      .array(
        z.strictObject({
          id: peerId,
          info: z.strictObject({
            peerId,
            addrs: z.array(text),
            protocols: z.array(text),
            protoVersion: z.string(),
            agentVersion: z.string(),
          }),
          connectionState: z.enum(["None", "Connecting", "Connected", "Disconnecting", "Disconnected"]),
          score: z.number(),
        }),
      )
      .min(1),
  }),
  getSyncing: z.boolean(),
  getNetworkPeerId: peerId,
  getNetworkPeers: z.array(peerId).min(1),
  getNetworkEnr: z.string().startsWith("enr:-"),
  setLogLevel: accepted,
  setGraffiti: accepted,
  getEth1Chain: z.array(
    z.strictObject({ number: uint64, timestamp: uint64, deposits: z.array(depositData), voteData: eth1Data }),
  ),
  getEth1ProposalData: z.strictObject({
    vote: eth1Data,
    deposits: z.array(z.strictObject({ proof: z.array(root).length(33), data: depositData })),
    hasMissingDeposits: z.boolean(),
  }),
  debug_getChronosFutures: z
    .array(
      z.strictObject({
        id: uint64,
        child_id: z.union([uint64, z.literal("")]),
        procname: text,
        filename: z.string(),
        line: z.int(),
        state: text,
      }),
    )
    .min(1),
  debug_getGossipSubPeers: z.strictObject({
    gossipsub: peersOfTopics,
    mesh: peersOfTopics,
    colocationPeers: z.array(z.record(text, z.array(peerId))),
    peerStats: z.array(
      z.strictObject({
        peerId,
        null: z.boolean(),
        connected: z.boolean(),
        expire: text,
        score: z.number(),
      }),
    ),
    allPeers: z.array(z.strictObject({ connected: z.boolean(), peerId })),
  }),
  getStateProof: proof,
  getBlockProof: proof,
  "rpc.discover": z.object({ openrpc: z.string().regex(/^1\.\d+\.\d+$/), methods: z.array(z.object({ name: text })) }),
};
