import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import type { deneb, fulu, RootHex, SignedBeaconBlock } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { Clock } from "../../chain/clock/clock.ts";
import type { DataSidecar } from "../../data/sidecar.ts";
import type { Logger } from "../../log/logger.ts";
import type { Host } from "../libp2p/host.ts";
import type { PeerReporter } from "../peers/peer-scores.ts";
import {
  AncestryCollector,
  type BlockCollector,
  blockFormat,
  decodeBlock,
  RangeCollector,
  RootCollector,
} from "./block-responses.ts";
import { RequestError } from "./errors.ts";
import type { BeaconRequests, BlockAncestry, BlockRange, RequestHandlers, SidecarIdentifiers } from "./interface.ts";
import { DEFAULT_LIMITS, maxRequestBlobSidecars, maxRequestBlocks, type ReqRespLimits } from "./limits.ts";
import {
  blobIdentifiersCodec,
  blobRangeRequestCodec,
  type Codec,
  columnIdentifiersCodec,
  columnRangeRequestCodec,
  headRequestCodec,
  metadataCodec,
  plainFormat,
  rangeRequestCodec,
  rootsRequestCodec,
  statusCodec,
  uint64Codec,
} from "./message-codecs.ts";
import { type ProtocolName, ResponseCode, SERVED_VERSIONS } from "./protocols.ts";
import { type OutboundRequest, RequestClient } from "./request-client.ts";
import { RequestServer } from "./request-server.ts";
import {
  BLOB_SIDECARS,
  COLUMN_SIDECARS,
  decodeSidecar,
  type SidecarCollector,
  SidecarRangeCollector,
  SidecarRootCollector,
  sidecarFormat,
} from "./sidecar-responses.ts";

interface ReqRespParts {
  host: Host;
  config: BeaconConfig;
  clock: Pick<Clock, "currentEpoch">;
  handlers: RequestHandlers;
  reporter: PeerReporter;
  logger: Logger;
  /** Overrides of the default limits. */
  limits?: Partial<ReqRespLimits>;
}

/** A request with a single-message response. */
interface SingleRequest<T> {
  name: ProtocolName;
  versions: readonly number[];
  body(version: number): Uint8Array | null;
  response(version: number): Codec<T>;
}

interface SidecarRequest<S extends DataSidecar> {
  name: ProtocolName;
  body: Uint8Array;
  maxChunks: number;
  /** Maximum number of sidecars per request. */
  most: number;
  onSidecar?: ((sidecar: S) => void) | undefined;
}

/** Request/response protocols in both directions (phase0/p2p-interface.md, The Req/Resp domain). */
export class ReqResp implements BeaconRequests {
  readonly #parts: ReqRespParts;
  readonly #logger: Logger;
  readonly #limits: ReqRespLimits;
  readonly #client: RequestClient;
  readonly #server: RequestServer;

  constructor(parts: ReqRespParts) {
    const { host, config, clock, handlers, reporter, logger } = parts;
    const limits = { ...DEFAULT_LIMITS, ...parts.limits };
    this.#parts = parts;
    this.#logger = logger;
    this.#limits = limits;
    this.#client = new RequestClient({ host, limits, maxPayload: config.MAX_PAYLOAD_SIZE });
    this.#server = new RequestServer({ host, config, clock, handlers, reporter, logger, limits });
  }

  /** Registers the protocol handlers. */
  async start(): Promise<void> {
    await this.#server.start();
  }

  /** Aborts all requests in both directions. */
  async close(): Promise<void> {
    this.#client.close();
    await this.#server.close();
  }

  status(peerId: string, signal?: AbortSignal): Promise<fulu.Status> {
    const request: SingleRequest<fulu.Status> = {
      name: "status",
      versions: this.#isActive(ForkSeq.fulu) ? [2, 1] : [1],
      body: (version) => statusCodec(version).encode(this.#parts.handlers.status()),
      response: statusCodec,
    };
    return this.#requestOne(peerId, request, signal);
  }

  async goodbye(peerId: string, reason: bigint): Promise<void> {
    const request: SingleRequest<bigint> = {
      name: "goodbye",
      versions: [1],
      body: () => uint64Codec().encode(reason),
      response: uint64Codec,
    };
    try {
      // Many peers disconnect without answering.
      await this.#request(peerId, outbound(request), AbortSignal.timeout(this.#limits.lingerMs));
    } catch (error) {
      this.#logger.trace("Goodbye not answered", { peer: peerId, error });
    }
  }

  ping(peerId: string, signal?: AbortSignal): Promise<bigint> {
    const request: SingleRequest<bigint> = {
      name: "ping",
      versions: [1],
      body: () => uint64Codec().encode(this.#parts.handlers.metadata().seqNumber),
      response: uint64Codec,
    };
    return this.#requestOne(peerId, request, signal);
  }

  metadata(peerId: string, signal?: AbortSignal): Promise<fulu.Metadata> {
    const request: SingleRequest<fulu.Metadata> = {
      name: "metadata",
      versions: this.#isActive(ForkSeq.fulu) ? [3, 2, 1] : [2, 1],
      body: () => null,
      response: metadataCodec,
    };
    return this.#requestOne(peerId, request, signal);
  }

  blocksByRange(peerId: string, range: BlockRange, signal?: AbortSignal): Promise<SignedBeaconBlock[]> {
    const { startSlot, count } = range;
    const body = rangeRequestCodec().encode({ startSlot, count, step: 1 });
    const collector = new RangeCollector(this.#parts.config, range);
    return this.#requestBlocks(peerId, { name: "beacon_blocks_by_range", body, count }, collector, signal);
  }

  blocksByRoot(peerId: string, roots: readonly RootHex[], signal?: AbortSignal): Promise<SignedBeaconBlock[]> {
    const wanted = new Set(roots);
    const body = rootsRequestCodec(wanted.size).encode([...wanted].map((root) => fromHex(root)));
    const collector = new RootCollector(this.#parts.config, wanted);
    return this.#requestBlocks(peerId, { name: "beacon_blocks_by_root", body, count: wanted.size }, collector, signal);
  }

  blocksByHead(peerId: string, ancestry: BlockAncestry, signal?: AbortSignal): Promise<SignedBeaconBlock[]> {
    const { root, count } = ancestry;
    const body = headRequestCodec().encode({ beaconRoot: fromHex(root), count });
    const collector = new AncestryCollector(this.#parts.config, root);
    return this.#requestBlocks(peerId, { name: "beacon_blocks_by_head", body, count }, collector, signal);
  }

  blobSidecarsByRange(
    peerId: string,
    range: BlockRange,
    signal?: AbortSignal,
    onSidecar?: (sidecar: deneb.BlobSidecar) => void,
  ): Promise<deneb.BlobSidecar[]> {
    const { startSlot, count } = range;
    const body = blobRangeRequestCodec().encode({ startSlot, count });
    const most = this.#mostBlobs;
    const collector = new SidecarRangeCollector(BLOB_SIDECARS, range);
    const maxChunks = Math.min(most, count * this.#parts.config.MAX_BLOBS_PER_BLOCK_ELECTRA);
    const request = { name: "blob_sidecars_by_range", body, maxChunks, most, onSidecar } as const;
    return this.#requestSidecars(peerId, request, collector, signal);
  }

  blobSidecarsByRoot(
    peerId: string,
    wanted: readonly SidecarIdentifiers[],
    signal?: AbortSignal,
  ): Promise<deneb.BlobSidecar[]> {
    const most = this.#mostBlobs;
    const identifiers = wanted.flatMap(({ root, indices }) =>
      indices.map((index) => ({ blockRoot: fromHex(root), index })),
    );
    const body = blobIdentifiersCodec(most).encode(identifiers);
    const collector = new SidecarRootCollector(BLOB_SIDECARS, wanted);
    const request = { name: "blob_sidecars_by_root", body, maxChunks: identifiers.length, most } as const;
    return this.#requestSidecars(peerId, request, collector, signal);
  }

  columnSidecarsByRange(
    peerId: string,
    range: BlockRange,
    columns: readonly number[],
    signal?: AbortSignal,
    onSidecar?: (sidecar: fulu.DataColumnSidecar) => void,
  ): Promise<fulu.DataColumnSidecar[]> {
    const { startSlot, count } = range;
    const most = this.#parts.config.MAX_REQUEST_DATA_COLUMN_SIDECARS;
    const body = columnRangeRequestCodec().encode({ startSlot, count, columns: [...columns] });
    const collector = new SidecarRangeCollector(COLUMN_SIDECARS, range, columns);
    const maxChunks = count * columns.length;
    const request = { name: "data_column_sidecars_by_range", body, maxChunks, most, onSidecar } as const;
    return this.#requestSidecars(peerId, request, collector, signal);
  }

  columnSidecarsByRoot(
    peerId: string,
    wanted: readonly SidecarIdentifiers[],
    signal?: AbortSignal,
  ): Promise<fulu.DataColumnSidecar[]> {
    const { MAX_REQUEST_BLOCKS_DENEB, MAX_REQUEST_DATA_COLUMN_SIDECARS: most } = this.#parts.config;
    const identifiers = wanted.map(({ root, indices }) => ({ blockRoot: fromHex(root), columns: [...indices] }));
    const body = columnIdentifiersCodec(MAX_REQUEST_BLOCKS_DENEB).encode(identifiers);
    const collector = new SidecarRootCollector(COLUMN_SIDECARS, wanted);
    const maxChunks = identifiers.reduce((sum, { columns }) => sum + columns.length, 0);
    const request = { name: "data_column_sidecars_by_root", body, maxChunks, most } as const;
    return this.#requestSidecars(peerId, request, collector, signal);
  }

  get #mostBlobs(): number {
    const { config, clock } = this.#parts;
    return maxRequestBlobSidecars(config, clock.currentEpoch);
  }

  async #requestOne<T>(peerId: string, request: SingleRequest<T>, signal: AbortSignal | undefined): Promise<T> {
    const single = outbound(request);
    await this.#withPenalty(peerId, request.name, async () => {
      await this.#request(peerId, single, signal);
      if (single.responses.length === 0)
        throw new RequestError("refused", "The peer closed the stream without a response.");
    });
    return single.responses[0] as T;
  }

  async #requestBlocks(
    peerId: string,
    { name, body, count }: { name: ProtocolName; body: Uint8Array; count: number },
    collector: BlockCollector,
    signal: AbortSignal | undefined,
  ): Promise<SignedBeaconBlock[]> {
    const { config, clock } = this.#parts;
    if (count === 0) return [];
    const most = maxRequestBlocks(config, clock.currentEpoch);
    if (count > most) throw new RangeError(`Cannot request ${count} blocks at once. The maximum is ${most}.`);
    const request: OutboundRequest = {
      name,
      versions: this.#blockVersions(name),
      body: () => body,
      cost: count,
      maxChunks: count,
      format: (version) => blockFormat(config, { name, version }),
      onChunk: (chunk) => collector.add(decodeBlock(config, chunk)),
    };
    await this.#withPenalty(peerId, name, () => this.#request(peerId, request, signal));
    return collector.blocks;
  }

  #blockVersions(name: ProtocolName): readonly number[] {
    if (name === "beacon_blocks_by_head") return SERVED_VERSIONS[name];
    // altair/p2p-interface.md, Transitioning from v1 to v2.
    return this.#isActive(ForkSeq.altair) ? [2] : [2, 1];
  }

  async #requestSidecars<S extends DataSidecar>(
    peerId: string,
    { name, body, maxChunks, most, onSidecar }: SidecarRequest<S>,
    collector: SidecarCollector<S>,
    signal: AbortSignal | undefined,
  ): Promise<S[]> {
    const { config } = this.#parts;
    if (maxChunks === 0) return [];
    if (maxChunks > most) throw new RangeError(`Cannot request ${maxChunks} sidecars at once. The maximum is ${most}.`);
    const { kind } = collector;
    const request: OutboundRequest = {
      name,
      versions: SERVED_VERSIONS[name],
      body: () => body,
      cost: maxChunks,
      maxChunks,
      format: () => sidecarFormat(config, kind),
      onChunk: (chunk) => {
        const sidecar = decodeSidecar(config, kind, chunk);
        collector.add(sidecar);
        onSidecar?.(sidecar);
      },
    };
    await this.#withPenalty(peerId, name, () => this.#request(peerId, request, signal));
    return collector.sidecars;
  }

  async #request(peerId: string, request: OutboundRequest, signal: AbortSignal | undefined): Promise<void> {
    await this.#client.request(peerId, request, signal);
  }

  async #withPenalty(peerId: string, name: ProtocolName, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof RequestError) {
        this.#logger.debug("Request failed", {
          peer: peerId,
          protocol: name,
          failure: error.failure,
          reason: error.message,
        });
        penalizeFailure(this.#parts.reporter, peerId, name, error);
      }
      throw error;
    }
  }

  #isActive(fork: ForkSeq): boolean {
    return this.#parts.config.getForkSeqAtEpoch(this.#parts.clock.currentEpoch) >= fork;
  }
}

function outbound<T>({ name, versions, body, response }: SingleRequest<T>): OutboundRequest & { responses: T[] } {
  const responses: T[] = [];
  return {
    name,
    versions,
    body,
    cost: 1,
    maxChunks: 1,
    format: (version) => plainFormat(response(version)),
    onChunk: ({ bytes }, version) => responses.push(response(version).decode(bytes)),
    responses,
  };
}

/** Protocols without which a peer is useless. */
const REQUIRED_PROTOCOLS: ReadonlySet<ProtocolName> = new Set(["status", "ping", "metadata"]);

/** Penalizes the peer for a failure that it caused. */
function penalizeFailure(reporter: PeerReporter, peerId: string, name: ProtocolName, error: RequestError): void {
  switch (error.failure) {
    case "malformed":
      reporter.penalize(peerId, "severe", `${name}: ${error.message}`);
      break;
    case "timeout":
      reporter.penalize(peerId, "moderate", `${name}: ${error.message}`);
      break;
    case "refused":
      // Other codes mean that the request was too large or the data is unavailable.
      if (error.code === undefined || error.code === ResponseCode.SERVER_ERROR) {
        reporter.penalize(peerId, "mild", `${name}: ${error.message}`);
      }
      break;
    case "unsupported":
      if (REQUIRED_PROTOCOLS.has(name)) reporter.penalize(peerId, "severe", `${name}: ${error.message}`);
      break;
    case "disconnected":
      break;
  }
}
