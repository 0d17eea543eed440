import { hash } from "node:crypto";
import { type ChainEvent, stringAt } from "./chain-event.ts";

/** Topics about the chain that a node follows. Published from one upstream at a time. */
export const CHAIN_TOPICS: ReadonlySet<string> = new Set(["head", "chain_reorg", "finalized_checkpoint"]);

/** Topics that are subscribed even without readers: small, and supported by all clients except the newest ones. */
export const ALWAYS_ON_TOPICS: readonly string[] = [
  ...CHAIN_TOPICS,
  "block",
  "block_gossip",
  "voluntary_exit",
  "proposer_slashing",
  "attester_slashing",
  "bls_to_execution_change",
  "light_client_finality_update",
  "light_client_optimistic_update",
];

const ALWAYS_ON: ReadonlySet<string> = new Set(ALWAYS_ON_TOPICS);

/** True if every gateway subscribes to the topic, even without readers. */
export const isAlwaysOn = (topic: string): boolean => ALWAYS_ON.has(topic);

/** Suffix of a signature that identifies it. */
const SIGNATURE_CHARACTERS = 40;

type Path = readonly string[];

/** Topics about objects, and the members that identify an object. */
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

/** True for topics that describe the view of one node, and for unknown topics. */
export const isNodeView = (topic: string): boolean => OBJECT_KEYS[topic] === undefined;

/**
 * Returns a key that is equal for all events about the same object, or undefined if the event is not about an object.
 */
export function objectKey({ topic, value, data }: ChainEvent): string | undefined {
  const parts = OBJECT_KEYS[topic]?.map((path) => partAt(value, path));
  const key = parts && parts[0] === undefined ? data.toString() : parts?.join(" ");
  return key !== undefined && key.length > LONGEST_KEY ? hash("sha256", key, "base64url") : key;
}

/** Longer keys are hashed. */
const LONGEST_KEY = 256;

function partAt(value: unknown, path: Path): string | undefined {
  const text = stringAt(value, ...path);
  return path.at(-1) === "signature" ? text?.slice(-SIGNATURE_CHARACTERS) : text;
}
