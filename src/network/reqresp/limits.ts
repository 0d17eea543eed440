import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq, MAX_CONCURRENT_REQUESTS } from "@lodestar/params";
import type { Epoch } from "@lodestar/types";
import type { Rate } from "../token-bucket.ts";
import type { ProtocolName } from "./protocols.ts";

/** How long, how much and how often; times are in milliseconds. */
export interface ReqRespLimits {
  /** From the request to the first byte of the response. */
  firstByteMs: number;
  /** For each chunk of a response, once the first byte is there. */
  chunkMs: number;
  /** For a whole response, in either direction, however many chunks it has. */
  responseMs: number;
  /** For reading a request that a peer makes. */
  requestMs: number;
  /** For a peer to take a chunk that it asked for. */
  writeMs: number;
  /** For a peer to end a stream on which everything has been said. */
  lingerMs: number;
  /** Requests under way to a peer with the same protocol; others wait for their turn. */
  outboundPerProtocol: number;
  outboundWaiting: number;
  /** Requests of a peer with the same protocol that are served at a time. Older clients do not know the limit of two. */
  inboundPerProtocol: number;
  /** Requests of all peers for blocks and sidecars that are served at a time; so many more wait for their turn. */
  inboundTotal: number;
  /** Blocks or sidecars of one response are held in memory up to this size; a longer response counts as one that ends there. */
  responseBytes: number;
  /** How long an answer is withheld when a peer asks too often, or many others ask; beyond, the request is refused. */
  withholdMs: number;
  /** Requests of a peer. */
  requestRates: Record<ProtocolName, Rate>;
  /** Blocks for a peer, and for all peers together. */
  peerBlockRate: Rate;
  totalBlockRate: Rate;
  /** Bytes of sidecars for a peer, and for all peers together. */
  peerSidecarRate: Rate;
  totalSidecarRate: Rate;
}

const MEBIBYTE = 2 ** 20;

export const DEFAULT_LIMITS: ReqRespLimits = {
  firstByteMs: 10_000,
  chunkMs: 10_000,
  responseMs: 120_000,
  requestMs: 10_000,
  writeMs: 10_000,
  lingerMs: 1_000,
  outboundPerProtocol: MAX_CONCURRENT_REQUESTS,
  outboundWaiting: 64,
  inboundPerProtocol: 2 * MAX_CONCURRENT_REQUESTS,
  inboundTotal: 128,
  responseBytes: 1 << 27,
  withholdMs: 5_000,
  requestRates: {
    status: { burst: 8, perSecond: 1 },
    goodbye: { burst: 2, perSecond: 0.2 },
    ping: { burst: 8, perSecond: 1 },
    metadata: { burst: 8, perSecond: 1 },
    beacon_blocks_by_range: { burst: 64, perSecond: 32 },
    beacon_blocks_by_root: { burst: 64, perSecond: 32 },
    beacon_blocks_by_head: { burst: 64, perSecond: 32 },
    blob_sidecars_by_range: { burst: 64, perSecond: 32 },
    blob_sidecars_by_root: { burst: 64, perSecond: 32 },
    data_column_sidecars_by_range: { burst: 64, perSecond: 32 },
    data_column_sidecars_by_root: { burst: 64, perSecond: 32 },
  },
  peerBlockRate: { burst: 2048, perSecond: 1024 },
  totalBlockRate: { burst: 8192, perSecond: 4096 },
  peerSidecarRate: { burst: 64 * MEBIBYTE, perSecond: 8 * MEBIBYTE },
  totalSidecarRate: { burst: 256 * MEBIBYTE, perSecond: 32 * MEBIBYTE },
};

/** How many blocks may be asked for at a time (deneb/p2p-interface.md, BeaconBlocksByRange v2). */
export function maxRequestBlocks(config: BeaconConfig, currentEpoch: Epoch): number {
  return config.getForkSeqAtEpoch(currentEpoch) >= ForkSeq.deneb
    ? config.MAX_REQUEST_BLOCKS_DENEB
    : config.MAX_REQUEST_BLOCKS;
}

/** How many blob sidecars may be asked for at a time (p2p-interface.md of deneb and electra, compute_max_request_blob_sidecars). */
export function maxRequestBlobSidecars(config: BeaconConfig, currentEpoch: Epoch): number {
  return config.getForkSeqAtEpoch(currentEpoch) >= ForkSeq.electra
    ? config.MAX_REQUEST_BLOB_SIDECARS_ELECTRA
    : config.MAX_REQUEST_BLOB_SIDECARS;
}
