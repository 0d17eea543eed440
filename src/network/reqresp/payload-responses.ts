import type { BeaconConfig } from "@lodestar/config";
import { isForkPostGloas } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { type gloas, type RootHex, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { deserializeExactly } from "../deserialize-exactly.ts";
import { ProtocolViolation } from "./errors.ts";
import type { BlockRange } from "./interface.ts";
import type { ChunkFormat, ResponseChunk } from "./response-chunk.ts";

type Envelope = gloas.SignedExecutionPayloadEnvelope;

/** Collects the envelopes from a response. `add` throws a `ProtocolViolation` if one violates the protocol. */
export interface PayloadCollector {
  readonly envelopes: Envelope[];
  add(envelope: Envelope): void;
}

/**
 * Validates an ExecutionPayloadEnvelopesByRange response: at most one envelope per slot of the range, in ascending order
 * (gloas/p2p-interface.md).
 */
export class PayloadRangeCollector implements PayloadCollector {
  readonly envelopes: Envelope[] = [];
  readonly #range: BlockRange;

  constructor(range: BlockRange) {
    this.#range = range;
  }

  add(envelope: Envelope): void {
    const { startSlot, count } = this.#range;
    const slot = slotOf(envelope);
    if (slot < startSlot || slot >= startSlot + count) {
      throw new ProtocolViolation("A payload is outside the requested range.");
    }
    const previous = this.envelopes.at(-1);
    if (previous !== undefined && slot <= slotOf(previous)) {
      throw new ProtocolViolation("The payloads are not in ascending order.");
    }
    this.envelopes.push(envelope);
  }
}

/**
 * Validates an ExecutionPayloadEnvelopesByRoot response: payloads of some of the requested blocks, each at most once
 * (gloas/p2p-interface.md).
 */
export class PayloadRootCollector implements PayloadCollector {
  readonly envelopes: Envelope[] = [];
  readonly #missing: Set<RootHex>;

  constructor(roots: Iterable<RootHex>) {
    this.#missing = new Set(roots);
  }

  add(envelope: Envelope): void {
    if (!this.#missing.delete(toRootHex(envelope.message.beaconBlockRoot))) {
      throw new ProtocolViolation("A payload was not requested or is a duplicate.");
    }
    this.envelopes.push(envelope);
  }
}

const slotOf = ({ message }: Envelope): number => message.payload.slotNumber;

/** Returns the chunk format for payloads. Their type has no limit, so that of all messages applies. */
export function payloadFormat(config: BeaconConfig): ChunkFormat {
  return {
    hasForkDigest: true,
    boundsOf(forkDigest) {
      const boundary = config.forkDigest2ForkBoundaryOption(forkDigest);
      if (boundary === null) throw new ProtocolViolation("The fork digest of a payload is unknown.");
      if (!isForkPostGloas(boundary.fork))
        throw new ProtocolViolation("Payloads before gloas are parts of their blocks.");
      const { minSize } = ssz.gloas.SignedExecutionPayloadEnvelope;
      return { minSize, maxSize: config.MAX_PAYLOAD_SIZE };
    },
  };
}

/** Decodes a payload. The fork digest must match the epoch of its block. */
export function decodePayload(config: BeaconConfig, { forkDigest, bytes }: ResponseChunk): Envelope {
  const envelope = deserialize(bytes);
  const boundary = config.getForkBoundaryAtEpoch(computeEpochAtSlot(slotOf(envelope)));
  if (Buffer.compare(config.forkBoundary2ForkDigest(boundary), forkDigest) !== 0) {
    throw new ProtocolViolation("The fork digest of a payload does not match its slot.");
  }
  return envelope;
}

function deserialize(bytes: Uint8Array): Envelope {
  try {
    return deserializeExactly(ssz.gloas.SignedExecutionPayloadEnvelope, bytes);
  } catch {
    throw new ProtocolViolation("A payload cannot be decoded.");
  }
}
