import { hash } from "node:crypto";
import { type ChainEvent, textAt } from "./chain-event.ts";

/** What tells of the one chain that a node follows; of several nodes these are told of one at a time. */
export const STORY_TOPICS: ReadonlySet<string> = new Set(["head", "chain_reorg", "finalized_checkpoint"]);

/** Always followed, whether or not somebody reads them: they are small, and known to all clients but for the newest of them. */
export const STEADY_TOPICS: readonly string[] = [
  ...STORY_TOPICS,
  "block",
  "block_gossip",
  "voluntary_exit",
  "proposer_slashing",
  "attester_slashing",
  "bls_to_execution_change",
  "light_client_finality_update",
  "light_client_optimistic_update",
];

const STEADY: ReadonlySet<string> = new Set(STEADY_TOPICS);

/** Whether it is followed always, so that all gateways have it. */
export const isSteady = (topic: string): boolean => STEADY.has(topic);

/** Of a signature, as much as no two have in common. */
const SIGNATURE_CHARACTERS = 40;

type Path = readonly string[];

/** What tells of an object, and where in it stands what no other object of its kind has. */
const OBJECT_KEYS: Readonly<Record<string, readonly Path[]>> = {
  block: [["block"]],
  block_gossip: [["block"]],
  attestation: [["signature"], ["aggregation_bits"], ["committee_bits"], ["data", "slot"], ["data", "index"]],
  single_attestation: [["signature"], ["attester_index"], ["data", "slot"]],
  voluntary_exit: [["signature"], ["message", "validator_index"]],
  proposer_slashing: [
    ["signed_header_1", "signature"],
    ["signed_header_2", "signature"],
  ],
  attester_slashing: [
    ["attestation_1", "signature"],
    ["attestation_2", "signature"],
  ],
  bls_to_execution_change: [["signature"], ["message", "validator_index"]],
  contribution_and_proof: [["signature"], ["message", "aggregator_index"], ["message", "contribution", "slot"]],
  blob_sidecar: [["block_root"], ["index"]],
  data_column_sidecar: [["block_root"], ["index"]],
  light_client_finality_update: [
    ["data", "attested_header", "beacon", "state_root"],
    ["data", "finalized_header", "beacon", "slot"],
    ["data", "signature_slot"],
    ["data", "sync_aggregate", "sync_committee_bits"],
  ],
  light_client_optimistic_update: [
    ["data", "attested_header", "beacon", "state_root"],
    ["data", "signature_slot"],
    ["data", "sync_aggregate", "sync_committee_bits"],
  ],
  execution_payload: [["block_root"], ["block_hash"]],
  execution_payload_gossip: [["block_root"], ["block_hash"]],
  execution_payload_available: [["block_root"]],
  execution_payload_bid: [["data", "signature"]],
  payload_attestation_message: [
    ["data", "signature"],
    ["data", "validator_index"],
  ],
  proposer_preferences: [
    ["data", "signature"],
    ["data", "message", "validator_index"],
  ],
};

/** What tells of what one node thinks; of topics that are not known here nothing else can be said. */
export const isView = (topic: string): boolean => OBJECT_KEYS[topic] === undefined;

/** The same for all events that tell of the same object; undefined for those that tell of none. */
export function objectKey({ topic, value, data }: ChainEvent): string | undefined {
  const parts = OBJECT_KEYS[topic]?.map((path) => partAt(value, path));
  const key = parts && parts[0] === undefined ? data.toString() : parts?.join(" ");
  return key !== undefined && key.length > LONGEST_KEY ? hash("sha256", key, "base64url") : key;
}

/** A longer one is remembered by its hash. */
const LONGEST_KEY = 256;

function partAt(value: unknown, path: Path): string | undefined {
  const text = textAt(value, ...path);
  return path.at(-1) === "signature" ? text?.slice(-SIGNATURE_CHARACTERS) : text;
}
