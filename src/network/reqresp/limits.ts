import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq, MAX_CONCURRENT_REQUESTS } from "@lodestar/params";
import type { Epoch } from "@lodestar/types";
import type { Rate } from "../../async/token-bucket.ts";
import type { ProtocolName } from "./protocols.ts";

/**
 * Timeouts, concurrency limits and rate limits for requests. Since the specification dropped `TTFB_TIMEOUT` and
 * `RESP_TIMEOUT`, timeouts are up to the client. The names are kept, as in other clients.
 */
export interface ReqRespLimits {
  /** For negotiating the protocol, and from the end of the request to the first byte of the response. */
  ttfbTimeoutMs: number;
  /** For each chunk of a response, after the first byte. */
  respTimeoutMs: number;
  /** For an entire response, inbound or outbound. */
  responseMs: number;
  /** For reading an inbound request. */
  requestMs: number;
  /** For a peer to read a chunk. */
  writeMs: number;
  /** For a peer to close a stream that is complete. */
  lingerMs: number;
  /** Maximum number of concurrent requests to a peer per protocol. Further requests are queued. */
  outboundPerProtocol: number;
  outboundWaiting: number;
  /**
   * Maximum number of concurrent requests from a peer per protocol. Older clients are not aware of the limit of two.
   */
  inboundPerProtocol: number;
  /** Maximum number of concurrent block and sidecar requests from all peers. As many again can be queued. */
  inboundTotal: number;
  /** Maximum size of a response in memory. A longer response is truncated at this size. */
  responseBytes: number;
  /** Maximum delay of a rate-limited response. A request that would have to wait longer is refused. */
  maxDelayMs: number;
  /** Rate of inbound requests, per peer. */
  requestRates: Record<ProtocolName, Rate>;
  /** Rate of blocks served, per peer and in total. */
  peerBlockRate: Rate;
  totalBlockRate: Rate;
  /** Rate of sidecar bytes served, per peer and in total. */
  peerSidecarRate: Rate;
  totalSidecarRate: Rate;
}

const MEBIBYTE = 2 ** 20;

export const DEFAULT_LIMITS: ReqRespLimits = {
  ttfbTimeoutMs: 10_000,
  respTimeoutMs: 10_000,
  responseMs: 120_000,
  requestMs: 10_000,
  writeMs: 10_000,
  lingerMs: 1_000,
  outboundPerProtocol: MAX_CONCURRENT_REQUESTS,
  outboundWaiting: 64,
  inboundPerProtocol: 2 * MAX_CONCURRENT_REQUESTS,
  inboundTotal: 128,
  responseBytes: 1 << 27,
  maxDelayMs: 5_000,
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
    execution_payload_envelopes_by_range: { burst: 64, perSecond: 32 },
    execution_payload_envelopes_by_root: { burst: 64, perSecond: 32 },
  },
  peerBlockRate: { burst: 2048, perSecond: 1024 },
  totalBlockRate: { burst: 8192, perSecond: 4096 },
  peerSidecarRate: { burst: 64 * MEBIBYTE, perSecond: 8 * MEBIBYTE },
  totalSidecarRate: { burst: 256 * MEBIBYTE, perSecond: 32 * MEBIBYTE },
};

/** Maximum number of blocks per request (deneb/p2p-interface.md, BeaconBlocksByRange v2). */
export function maxRequestBlocks(config: BeaconConfig, currentEpoch: Epoch): number {
  return config.getForkSeqAtEpoch(currentEpoch) >= ForkSeq.deneb
    ? config.MAX_REQUEST_BLOCKS_DENEB
    : config.MAX_REQUEST_BLOCKS;
}

/**
 * Maximum number of blob sidecars per request (deneb and electra/p2p-interface.md, compute_max_request_blob_sidecars).
 */
export function maxRequestBlobSidecars(config: BeaconConfig, currentEpoch: Epoch): number {
  return config.getForkSeqAtEpoch(currentEpoch) >= ForkSeq.electra
    ? config.MAX_REQUEST_BLOB_SIDECARS_ELECTRA
    : config.MAX_REQUEST_BLOB_SIDECARS;
}
