import { isJsonObject } from "../../json/json-object.ts";

type Check = (value: unknown, limits: EventLimits) => boolean;

/** Required members of an object. Others are allowed. */
interface Shape {
  readonly [name: string]: Check | Shape;
}

/** Latest slot and epoch that an event may be about. */
export interface EventLimits {
  readonly slot: number;
  readonly epoch: number;
}

const MAX_UINT64 = 2n ** 64n - 1n;

/** The Beacon API writes integers as decimal strings. Some clients write numbers. */
function integerOf(value: unknown): bigint | undefined {
  const text = typeof value === "number" ? String(value) : value;
  return typeof text === "string" && /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
}

const atMost =
  (limitOf: (limits: EventLimits) => number | bigint): Check =>
  (value, limits) => {
    const integer = integerOf(value);
    return integer !== undefined && integer <= limitOf(limits);
  };

const hex =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === "string" && pattern.test(value);

const UINT = atMost(() => MAX_UINT64);
/** A slot that is not in the future. */
const SLOT = atMost(({ slot }) => slot);
/** An epoch that is not in the future. */
const EPOCH = atMost(({ epoch }) => epoch);
/** Finality is two epochs behind the clock or more. */
const FINALIZED_EPOCH = atMost(({ epoch }) => Math.max(0, epoch - 2));
const ROOT = hex(/^0x[\da-f]{64}$/i);
const SIGNATURE = hex(/^0x[\da-f]{192}$/i);
const PUBKEY = hex(/^0x[\da-f]{96}$/i);
const ADDRESS = hex(/^0x[\da-f]{40}$/i);
const BITS = hex(/^0x(?:[\da-f]{2})+$/i);

const CHECKPOINT = { epoch: EPOCH, root: ROOT };
const ATTESTATION_DATA = { slot: SLOT, index: UINT, beacon_block_root: ROOT, source: CHECKPOINT, target: CHECKPOINT };
const SIGNED_HEADER = { message: { slot: UINT, proposer_index: UINT }, signature: SIGNATURE };
/** A slashable attestation may be about any slot. */
const SLASHED_ATTESTATION = { data: { slot: UINT, beacon_block_root: ROOT }, signature: SIGNATURE };
const BLOCK = { slot: SLOT, block: ROOT };
const SIDECAR = { block_root: ROOT, index: UINT, slot: SLOT };
const LIGHT_CLIENT_UPDATE = {
  attested_header: { beacon: { slot: SLOT, state_root: ROOT } },
  sync_aggregate: { sync_committee_bits: BITS },
  signature_slot: SLOT,
};

/**
 * Members that all clients send, by topic. The topics of gloas are missing: their data is not final. Payload attributes
 * and proposer preferences are about future slots.
 */
const SHAPES: ReadonlyMap<string, Shape> = new Map(
  Object.entries<Shape>({
    head: { ...BLOCK, state: ROOT },
    head_v2: { data: { ...BLOCK, state: ROOT } },
    block: BLOCK,
    block_gossip: BLOCK,
    finalized_checkpoint: { block: ROOT, state: ROOT, epoch: FINALIZED_EPOCH },
    // The gateway does not know the states of all reorgs that it announces.
    chain_reorg: { slot: SLOT, depth: UINT, old_head_block: ROOT, new_head_block: ROOT },
    attestation: { aggregation_bits: BITS, data: ATTESTATION_DATA, signature: SIGNATURE },
    single_attestation: { attester_index: UINT, data: ATTESTATION_DATA, signature: SIGNATURE },
    contribution_and_proof: {
      message: { aggregator_index: UINT, contribution: { slot: SLOT, beacon_block_root: ROOT } },
      signature: SIGNATURE,
    },
    voluntary_exit: { message: { epoch: EPOCH, validator_index: UINT }, signature: SIGNATURE },
    proposer_slashing: { signed_header_1: SIGNED_HEADER, signed_header_2: SIGNED_HEADER },
    attester_slashing: { attestation_1: SLASHED_ATTESTATION, attestation_2: SLASHED_ATTESTATION },
    bls_to_execution_change: {
      message: { validator_index: UINT, from_bls_pubkey: PUBKEY, to_execution_address: ADDRESS },
      signature: SIGNATURE,
    },
    blob_sidecar: SIDECAR,
    data_column_sidecar: SIDECAR,
    light_client_optimistic_update: { data: LIGHT_CLIENT_UPDATE },
    light_client_finality_update: {
      data: { ...LIGHT_CLIENT_UPDATE, finalized_header: { beacon: { slot: SLOT, state_root: ROOT } } },
    },
    payload_attributes: { data: { proposal_slot: UINT } },
  }),
);

/**
 * True if the data has the required members of its topic, and is not about the future. Accepts any data of unknown
 * topics.
 */
export function isValidData(topic: string, value: unknown, limits: EventLimits): boolean {
  const shape = SHAPES.get(topic);
  return shape === undefined || hasShape(value, shape, limits);
}

function hasShape(value: unknown, shape: Shape, limits: EventLimits): boolean {
  if (!isJsonObject(value)) return false;
  return Object.entries(shape).every(([name, check]) =>
    typeof check === "function" ? check(value[name], limits) : hasShape(value[name], check, limits),
  );
}
