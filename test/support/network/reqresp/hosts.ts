import { randomBytes } from "node:crypto";
import { gossipsub } from "@libp2p/gossipsub";
import type { Stream } from "@libp2p/interface";
import { createBeaconConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { type gloas, type SignedBeaconBlock, type Slot, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { signedHeaderOf } from "../../../../src/data/commitments.ts";
import {
  blockRootOfSidecar,
  type HeaderSidecar,
  isColumn,
  serializeSidecar,
  slotOfSidecar,
} from "../../../../src/data/sidecar.ts";
import { createHost, type Host, type HostOptions } from "../../../../src/network/libp2p/host.ts";
import type { Severity } from "../../../../src/network/peers/peer-scores.ts";
import type {
  BeaconRequests,
  BlockAncestry,
  BlockChunk,
  BlockRange,
  RequestHandlers,
  SidecarIdentifiers,
} from "../../../../src/network/reqresp/interface.ts";
import type { ReqRespLimits } from "../../../../src/network/reqresp/limits.ts";
import { type ProtocolName, protocolId } from "../../../../src/network/reqresp/protocols.ts";
import { ReqResp } from "../../../../src/network/reqresp/reqresp.ts";
import type { ResponseChunk } from "../../../../src/network/reqresp/response-chunk.ts";
import { createRecordingLogger } from "../../log/recording-logger.ts";

/** Schedules phase0, altair, electra, fulu and gloas. */
const ALTAIR_EPOCH = 2;
const ELECTRA_EPOCH = 3;
const FULU_EPOCH = 4;
const GLOAS_EPOCH = 6;
export const config = createBeaconConfig(
  {
    ALTAIR_FORK_EPOCH: ALTAIR_EPOCH,
    BELLATRIX_FORK_EPOCH: ELECTRA_EPOCH,
    CAPELLA_FORK_EPOCH: ELECTRA_EPOCH,
    DENEB_FORK_EPOCH: ELECTRA_EPOCH,
    ELECTRA_FORK_EPOCH: ELECTRA_EPOCH,
    FULU_FORK_EPOCH: FULU_EPOCH,
    GLOAS_FORK_EPOCH: GLOAS_EPOCH,
    BLOB_SCHEDULE: [],
  },
  new Uint8Array(32).fill(9),
);

export async function startHost(options: Partial<HostOptions> = {}): Promise<Host> {
  const host = await createHost({
    key: randomBytes(32),
    listen: { address: "127.0.0.1", port: 0 },
    agentVersion: "Fanal/test",
    maxConnections: 10,
    pubsub: (components) => gossipsub()(components),
    ...options,
  });
  await host.start();
  return host;
}

/** Returns a chain with a block in each slot from 1 to `lastSlot`. */
export function chainOfBlocks(lastSlot: number): SignedBeaconBlock[] {
  const blocks: SignedBeaconBlock[] = [];
  let parentRoot: Uint8Array = new Uint8Array(32);
  for (let slot = 1; slot <= lastSlot; slot++) {
    const types = config.getForkTypes(slot);
    const block = types.SignedBeaconBlock.defaultValue();
    block.message.slot = slot;
    block.message.parentRoot = parentRoot;
    parentRoot = types.BeaconBlock.hashTreeRoot(block.message);
    blocks.push(block);
  }
  return blocks;
}

export function rootOf(block: SignedBeaconBlock): Uint8Array {
  return config.getForkTypes(block.message.slot).BeaconBlock.hashTreeRoot(block.message);
}

export function chunkOf(block: SignedBeaconBlock): BlockChunk {
  const { slot } = block.message;
  return { bytes: config.getForkTypes(slot).SignedBeaconBlock.serialize(block), forkDigest: digestAt(slot) };
}

export function sidecarChunkOf(sidecar: HeaderSidecar): ResponseChunk {
  return { bytes: serializeSidecar(sidecar), forkDigest: digestAt(slotOfSidecar(sidecar)) };
}

export function payloadChunkOf(envelope: gloas.SignedExecutionPayloadEnvelope): ResponseChunk {
  const bytes = ssz.gloas.SignedExecutionPayloadEnvelope.serialize(envelope);
  return { bytes, forkDigest: digestAt(envelope.message.payload.slotNumber) };
}

/** Returns an empty envelope for the block. The protocol checks nothing else. */
export function envelopeOf(block: SignedBeaconBlock): gloas.SignedExecutionPayloadEnvelope {
  const envelope = ssz.gloas.SignedExecutionPayloadEnvelope.defaultValue();
  envelope.message.payload.slotNumber = block.message.slot;
  envelope.message.beaconBlockRoot = rootOf(block);
  return envelope;
}

function digestAt(slot: Slot): Uint8Array {
  return config.forkBoundary2ForkDigest(config.getForkBoundaryAtEpoch(computeEpochAtSlot(slot)));
}

/** Returns an empty sidecar with the header of the block. The protocol checks nothing else. */
export function sidecarOf(block: SignedBeaconBlock, index: number): HeaderSidecar {
  const signedBlockHeader = signedHeaderOf(config, block);
  return block.message.slot < FIRST_FULU_SLOT
    ? { ...ssz.deneb.BlobSidecar.defaultValue(), index, signedBlockHeader }
    : { ...ssz.fulu.DataColumnSidecar.defaultValue(), index, signedBlockHeader };
}

/** Serves blocks from memory and records what peers report. */
class FakeHandlers implements RequestHandlers {
  readonly received: unknown[] = [];
  readonly blocks: SignedBeaconBlock[];
  /** In the order of slots and indices. */
  readonly sidecars: HeaderSidecar[] = [];
  /** In the order of slots. */
  readonly payloads: gloas.SignedExecutionPayloadEnvelope[] = [];
  readonly #status = { ...ssz.fulu.Status.defaultValue(), headSlot: 1234, earliestAvailableSlot: 5 };

  constructor(blocks: SignedBeaconBlock[]) {
    this.blocks = blocks;
  }

  status() {
    return this.#status;
  }

  metadata() {
    const metadata = ssz.fulu.Metadata.defaultValue();
    metadata.attnets.set(3, true);
    metadata.syncnets.set(1, true);
    return { ...metadata, seqNumber: 2n ** 60n + 1n, custodyGroupCount: 4 };
  }

  onStatus(peerId: string, { headSlot, earliestAvailableSlot }: ReturnType<FakeHandlers["status"]>): void {
    this.received.push({ peerId, headSlot, earliestAvailableSlot });
  }

  onPing(peerId: string, sequence: bigint): void {
    this.received.push({ peerId, sequence });
  }

  onGoodbye(peerId: string, reason: bigint): void {
    this.received.push({ peerId, reason });
  }

  async *blocksByRange({ startSlot, count }: { startSlot: number; count: number }) {
    for (const block of this.blocks) {
      if (block.message.slot >= startSlot && block.message.slot < startSlot + count) yield chunkOf(block);
    }
  }

  async *blocksByRoot(roots: readonly Uint8Array[]) {
    for (const root of roots) {
      const block = this.blocks.find((each) => Buffer.compare(rootOf(each), root) === 0);
      if (block !== undefined) yield chunkOf(block);
    }
  }

  async *blocksByHead({ root, count }: BlockAncestry) {
    const last = this.blocks.findIndex((block) => toRootHex(rootOf(block)) === root);
    for (const block of this.blocks.slice(Math.max(last + 1 - count, 0), last + 1).reverse()) yield chunkOf(block);
  }

  async *blobSidecarsByRange(range: BlockRange) {
    yield* this.#sidecarsByRange(range, (sidecar) => !isColumn(sidecar));
  }

  async *blobSidecarsByRoot(wanted: readonly SidecarIdentifiers[]) {
    yield* this.#sidecarsByRoot(wanted);
  }

  async *columnSidecarsByRange(range: BlockRange, columns: readonly number[]) {
    yield* this.#sidecarsByRange(range, (sidecar) => isColumn(sidecar) && columns.includes(sidecar.index));
  }

  async *columnSidecarsByRoot(wanted: readonly SidecarIdentifiers[]) {
    yield* this.#sidecarsByRoot(wanted);
  }

  async *payloadsByRange({ startSlot, count }: BlockRange) {
    for (const envelope of this.payloads) {
      const { slotNumber } = envelope.message.payload;
      if (slotNumber >= startSlot && slotNumber < startSlot + count) yield payloadChunkOf(envelope);
    }
  }

  async *payloadsByRoot(roots: readonly Uint8Array[]) {
    for (const root of roots) {
      const found = this.payloads.find(({ message }) => Buffer.compare(message.beaconBlockRoot, root) === 0);
      if (found !== undefined) yield payloadChunkOf(found);
    }
  }

  *#sidecarsByRange({ startSlot, count }: BlockRange, isWanted: (sidecar: HeaderSidecar) => boolean) {
    for (const sidecar of this.sidecars.filter(isWanted)) {
      const slot = slotOfSidecar(sidecar);
      if (slot >= startSlot && slot < startSlot + count) yield sidecarChunkOf(sidecar);
    }
  }

  *#sidecarsByRoot(wanted: readonly SidecarIdentifiers[]) {
    for (const { root, indices } of wanted) {
      for (const sidecar of this.sidecars) {
        if (blockRootOfSidecar(sidecar) === root && indices.includes(sidecar.index)) yield sidecarChunkOf(sidecar);
      }
    }
  }
}

export interface TestNode {
  host: Host;
  peerId: string;
  reqresp: ReqResp;
  requests: BeaconRequests;
  handlers: FakeHandlers;
  clock: { currentEpoch: number };
  penalties: { peerId: string; severity: Severity; reason: string }[];
  warnings(): string[];
}

/** Starts a node whose clock is at the first fulu epoch. */
export async function startNode(blocks: SignedBeaconBlock[], limits: Partial<ReqRespLimits> = {}): Promise<TestNode> {
  const host = await startHost();
  const handlers = new FakeHandlers(blocks);
  const clock = { currentEpoch: FULU_EPOCH };
  const penalties: TestNode["penalties"] = [];
  const logger = createRecordingLogger();
  const reporter = {
    penalize: (peerId: string, severity: Severity, reason: string) => void penalties.push({ peerId, severity, reason }),
  };
  const reqresp = new ReqResp({ host, config, clock, handlers, reporter, logger, limits });
  await reqresp.start();
  const warnings = () => logger.records.filter(({ level }) => level === "warn").map(({ message }) => message);
  return {
    host,
    peerId: host.peerId.toString(),
    reqresp,
    requests: reqresp.requests,
    handlers,
    clock,
    penalties,
    warnings,
  };
}

export async function stopNode({ reqresp, host }: TestNode): Promise<void> {
  await reqresp.close();
  await host.stop();
}

/** Reads a stream until it ends or is reset. */
export async function collect(stream: Stream): Promise<{ bytes: Buffer; wasReset: boolean }> {
  const pieces: Uint8Array[] = [];
  const wasReset = await new Promise<boolean>((resolve) => {
    if (stream.readableEnded) resolve(stream.status === "reset");
    stream.addEventListener("message", ({ data }) => pieces.push(data.subarray()));
    stream.addEventListener("end", () => resolve(stream.status === "reset"));
    stream.addEventListener("close", ({ error }) => resolve(error !== undefined));
  });
  return { bytes: Buffer.concat(pieces), wasReset };
}

export function openStream(from: Host, to: Host, name: ProtocolName, version: number): Promise<Stream> {
  return from.dialProtocol(to.peerId, protocolId({ name, version }));
}

export const FIRST_ELECTRA_SLOT = ELECTRA_EPOCH * SLOTS_PER_EPOCH;
export const FIRST_FULU_SLOT = FULU_EPOCH * SLOTS_PER_EPOCH;
export const FIRST_GLOAS_SLOT = GLOAS_EPOCH * SLOTS_PER_EPOCH;
