import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import type { gloas, SignedBeaconBlock } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { Clock } from "../../chain/clock/clock.ts";
import type { DataSidecar } from "../../data/sidecar.ts";
import {
  AncestryCollector,
  type BlockCollector,
  blockFormat,
  decodeBlock,
  RangeCollector,
  RootCollector,
} from "./block-responses.ts";
import { RequestError } from "./errors.ts";
import type { BeaconRequests, RequestHandlers } from "./interface.ts";
import { maxRequestBlobSidecars, maxRequestBlocks } from "./limits.ts";
import {
  blobIdentifiersCodec,
  blobRangeRequestCodec,
  type Codec,
  columnIdentifiersCodec,
  columnRangeRequestCodec,
  headRequestCodec,
  metadataCodec,
  payloadRangeRequestCodec,
  plainFormat,
  rangeRequestCodec,
  rootsRequestCodec,
  statusCodec,
  uint64Codec,
} from "./message-codecs.ts";
import {
  decodePayload,
  type PayloadCollector,
  PayloadRangeCollector,
  PayloadRootCollector,
  payloadFormat,
} from "./payload-responses.ts";
import { type ProtocolName, SERVED_VERSIONS } from "./protocols.ts";
import type { OutboundRequest } from "./request-client.ts";
import {
  BLOB_SIDECARS,
  COLUMN_SIDECARS,
  decodeSidecar,
  type SidecarCollector,
  SidecarRangeCollector,
  SidecarRootCollector,
  sidecarFormat,
} from "./sidecar-responses.ts";

interface RequestParts {
  config: BeaconConfig;
  clock: Pick<Clock, "currentEpoch">;
  handlers: Pick<RequestHandlers, "status" | "metadata">;
}

/** A request to a peer, which collects its response. */
export interface PeerRequest<T> extends OutboundRequest {
  /** The specification's maximum for `maxChunks`. */
  maxItems: number;
  /** What the chunks contain. */
  content: "messages" | "blocks" | "sidecars" | "payloads";
  /** Returns the complete response. Throws a `RequestError` if a required message is missing. */
  result(): T;
}

/** Sends a request and returns its response. Rejects with a `RequestError`. */
type Send = <T>(peerId: string, request: PeerRequest<T>, signal?: AbortSignal) => Promise<T>;

/** Defines the request, response and limits of each protocol. */
export function createPeerRequests(parts: RequestParts, send: Send): Omit<BeaconRequests, "goodbye"> {
  const { config, clock, handlers } = parts;
  return {
    status(peerId, signal) {
      const versions = isActive(parts, ForkSeq.fulu) ? [2, 1] : [1];
      return send(peerId, message("status", versions, statusCodec, handlers.status()), signal);
    },

    ping(peerId, signal) {
      const { seqNumber } = handlers.metadata();
      return send(peerId, message("ping", [1], uint64Codec, seqNumber), signal);
    },

    metadata(peerId, signal) {
      const versions = isActive(parts, ForkSeq.fulu) ? [3, 2, 1] : [2, 1];
      return send(peerId, message("metadata", versions, metadataCodec, null), signal);
    },

    blocksByRange(peerId, range, signal) {
      const { startSlot, count } = range;
      const body = rangeRequestCodec().encode({ startSlot, count, step: 1 });
      const collector = new RangeCollector(config, range);
      return send(peerId, blocks(parts, "beacon_blocks_by_range", body, count, collector), signal);
    },

    blocksByRoot(peerId, roots, signal) {
      const requestedRoots = new Set(roots);
      const body = rootsRequestCodec(requestedRoots.size).encode([...requestedRoots].map((root) => fromHex(root)));
      const collector = new RootCollector(config, requestedRoots);
      return send(peerId, blocks(parts, "beacon_blocks_by_root", body, requestedRoots.size, collector), signal);
    },

    blocksByHead(peerId, { root, count }, signal) {
      const body = headRequestCodec().encode({ beaconRoot: fromHex(root), count });
      const collector = new AncestryCollector(config, root);
      return send(peerId, blocks(parts, "beacon_blocks_by_head", body, count, collector), signal);
    },

    blobSidecarsByRange(peerId, range, signal, onSidecar) {
      const { startSlot, count } = range;
      const maxItems = maxRequestBlobSidecars(config, clock.currentEpoch);
      const request = {
        name: "blob_sidecars_by_range" as const,
        body: blobRangeRequestCodec().encode({ startSlot, count }),
        maxChunks: Math.min(maxItems, count * config.MAX_BLOBS_PER_BLOCK_ELECTRA),
        maxItems,
        collector: new SidecarRangeCollector(BLOB_SIDECARS, range),
        onSidecar,
      };
      return send(peerId, sidecars(config, request), signal);
    },

    blobSidecarsByRoot(peerId, requested, signal) {
      const maxItems = maxRequestBlobSidecars(config, clock.currentEpoch);
      const identifiers = requested.flatMap(({ root, indices }) =>
        indices.map((index) => ({ blockRoot: fromHex(root), index })),
      );
      const request = {
        name: "blob_sidecars_by_root" as const,
        body: blobIdentifiersCodec(maxItems).encode(identifiers),
        maxChunks: identifiers.length,
        maxItems,
        collector: new SidecarRootCollector(BLOB_SIDECARS, requested),
      };
      return send(peerId, sidecars(config, request), signal);
    },

    columnSidecarsByRange(peerId, range, columns, signal, onSidecar) {
      const { startSlot, count } = range;
      const request = {
        name: "data_column_sidecars_by_range" as const,
        body: columnRangeRequestCodec().encode({ startSlot, count, columns: [...columns] }),
        maxChunks: count * columns.length,
        maxItems: config.MAX_REQUEST_DATA_COLUMN_SIDECARS,
        collector: new SidecarRangeCollector(COLUMN_SIDECARS, range, columns),
        onSidecar,
      };
      return send(peerId, sidecars(config, request), signal);
    },

    columnSidecarsByRoot(peerId, requested, signal) {
      const identifiers = requested.map(({ root, indices }) => ({ blockRoot: fromHex(root), columns: [...indices] }));
      const request = {
        name: "data_column_sidecars_by_root" as const,
        body: columnIdentifiersCodec(config.MAX_REQUEST_BLOCKS_DENEB).encode(identifiers),
        maxChunks: identifiers.reduce((sum, { columns }) => sum + columns.length, 0),
        maxItems: config.MAX_REQUEST_DATA_COLUMN_SIDECARS,
        collector: new SidecarRootCollector(COLUMN_SIDECARS, requested),
      };
      return send(peerId, sidecars(config, request), signal);
    },

    payloadsByRange(peerId, range, signal) {
      const { startSlot, count } = range;
      const body = payloadRangeRequestCodec().encode({ startSlot, count });
      const collector = new PayloadRangeCollector(range);
      return send(peerId, payloads(config, "execution_payload_envelopes_by_range", body, count, collector), signal);
    },

    payloadsByRoot(peerId, roots, signal) {
      const requestedRoots = new Set(roots);
      const count = requestedRoots.size;
      const body = rootsRequestCodec(count).encode([...requestedRoots].map((root) => fromHex(root)));
      const collector = new PayloadRootCollector(requestedRoots);
      return send(peerId, payloads(config, "execution_payload_envelopes_by_root", body, count, collector), signal);
    },
  };
}

export function goodbyeRequest(reason: bigint): PeerRequest<bigint> {
  return message("goodbye", [1], uint64Codec, reason);
}

/** Creates a request that sends at most one message and expects exactly one in response. */
function message<T>(
  name: ProtocolName,
  versions: readonly number[],
  codec: (version: number) => Codec<T>,
  sent: T | null,
): PeerRequest<T> {
  const received: T[] = [];
  return {
    name,
    versions,
    body: (version) => (sent === null ? null : codec(version).encode(sent)),
    maxChunks: 1,
    maxItems: 1,
    content: "messages",
    format: (version) => plainFormat(codec(version)),
    onChunk: ({ bytes }, version) => received.push(codec(version).decode(bytes)),
    result() {
      if (received.length === 0) throw new RequestError("refused", "The peer closed the stream without a response.");
      return received[0]!;
    },
  };
}

function blocks(
  parts: RequestParts,
  name: ProtocolName,
  body: Uint8Array,
  count: number,
  collector: BlockCollector,
): PeerRequest<SignedBeaconBlock[]> {
  const { config, clock } = parts;
  // See altair/p2p-interface.md, Transitioning from v1 to v2.
  const isAfterVersion1 = name !== "beacon_blocks_by_head" && isActive(parts, ForkSeq.altair);
  return {
    name,
    versions: isAfterVersion1 ? [2] : SERVED_VERSIONS[name],
    body: () => body,
    maxChunks: count,
    maxItems: maxRequestBlocks(config, clock.currentEpoch),
    content: "blocks",
    format: (version) => blockFormat(config, { name, version }),
    onChunk: (chunk) => collector.add(decodeBlock(config, chunk)),
    result: () => collector.blocks,
  };
}

interface SidecarParts<S extends DataSidecar> extends Pick<PeerRequest<S[]>, "name" | "maxChunks" | "maxItems"> {
  body: Uint8Array;
  collector: SidecarCollector<S>;
  onSidecar?: ((sidecar: S) => void) | undefined;
}

function sidecars<S extends DataSidecar>(
  config: BeaconConfig,
  { name, body, maxChunks, maxItems, collector, onSidecar }: SidecarParts<S>,
): PeerRequest<S[]> {
  const { kind } = collector;
  return {
    name,
    versions: SERVED_VERSIONS[name],
    body: () => body,
    maxChunks,
    maxItems,
    content: "sidecars",
    format: () => sidecarFormat(config, kind),
    onChunk: (chunk) => {
      const sidecar = decodeSidecar(config, kind, chunk);
      collector.add(sidecar);
      onSidecar?.(sidecar);
    },
    result: () => collector.sidecars,
  };
}

function payloads(
  config: BeaconConfig,
  name: ProtocolName,
  body: Uint8Array,
  count: number,
  collector: PayloadCollector,
): PeerRequest<gloas.SignedExecutionPayloadEnvelope[]> {
  return {
    name,
    versions: SERVED_VERSIONS[name],
    body: () => body,
    maxChunks: count,
    maxItems: config.MAX_REQUEST_PAYLOADS,
    content: "payloads",
    format: () => payloadFormat(config),
    onChunk: (chunk) => collector.add(decodePayload(config, chunk)),
    result: () => collector.envelopes,
  };
}

function isActive({ config, clock }: RequestParts, fork: ForkSeq): boolean {
  return config.getForkSeqAtEpoch(clock.currentEpoch) >= fork;
}
