import { Semaphore } from "../../async/semaphore.ts";
import { SYSTEM_TIMERS } from "../../async/timers.ts";
import { type ChainSpec, parseChainSpec } from "../network/chain-spec.ts";
import { fetchData } from "../upstream/client/fetch.ts";
import { integerOf, memberOf } from "../upstream/client/json-fields.ts";
import type { Observation } from "../upstream/health/assess-health.ts";
import { poll, readHead, readVersion } from "../upstream/health/poll.ts";
import { UpstreamError } from "../upstream/upstream-call.ts";
import { hasFormat, type Probe, type ProbeResponse, parseJson } from "./probe.ts";

/** What an upstream reports about itself and its chain. Only `failure` is set if it cannot be used. */
export interface Inspection extends Observation {
  readonly upstream: string;
  /** Unix milliseconds of the sync status. */
  readonly observedAt?: number;
  /** Its `/eth/v1/config/spec`. */
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly chainSpec?: ChainSpec;
  readonly justifiedEpoch?: number;
  /** Block of the finalized checkpoint. */
  readonly finalizedBlock?: BlockRef;
  readonly connectedPeers?: number;
  /** A connected peer. */
  readonly peerId?: string;
}

export interface BlockRef {
  readonly slot: number;
  readonly root: string;
}

/** Each inspection sends about ten requests in parallel. */
const MAX_CONCURRENT = 32;

/** Inspects upstreams in parallel, so that one that hangs does not delay the others. */
export function inspectAll(probes: readonly Probe[]): Promise<Inspection[]> {
  const limiter = new Semaphore(MAX_CONCURRENT);
  return Promise.all(
    probes.map(async (probe) => {
      await limiter.wait();
      try {
        return await inspect(probe);
      } finally {
        limiter.release();
      }
    }),
  );
}

/** Requests version, genesis, sync status, head, finality, constants and peers of an upstream. */
export async function inspect(probe: Probe): Promise<Inspection> {
  const { upstream } = probe;
  try {
    const first = await probe.get("/eth/v1/node/version");
    const genesis = await read(probe, "/eth/v1/beacon/genesis", (data) => data);
    const identity = memberOf(parseJson(first), "data");
    const version = memberOf(identity, "version") === undefined ? undefined : readVersion(identity);
    if (genesis === undefined && version === undefined) return { upstream, failure: describeNonNode(first) };
    // In parallel, so that an upstream that hangs costs one timeout.
    const [observation, spec, justifiedEpoch, finalizedBlock, connectedPeers, peerId] = await Promise.all([
      observe(probe),
      read(probe, "/eth/v1/config/spec", (data) => data as Record<string, unknown>),
      read(probe, "/eth/v1/beacon/states/head/finality_checkpoints", (data) =>
        integerOf(memberOf(data, "current_justified"), "epoch"),
      ),
      headerOf(probe, "finalized"),
      read(probe, "/eth/v1/node/peer_count", (data) => integerOf(data, "connected")),
      read(probe, "/eth/v1/node/peers?state=connected", firstPeerId),
    ]);
    const chainSpec = tryParseChainSpec(spec, genesis);
    return {
      upstream,
      version,
      ...observation,
      spec,
      chainSpec,
      justifiedEpoch,
      finalizedBlock,
      connectedPeers,
      peerId,
    };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return { upstream, failure: error.message };
  }
}

/** Returns a block of an upstream, or undefined if unavailable. */
export function headerOf(probe: Probe, blockId: string): Promise<BlockRef | undefined> {
  return read(probe, `/eth/v1/beacon/headers/${blockId}`, readHead);
}

/** Returns the public keys of the first validators, by index. Empty if unavailable. */
export async function readPubkeys(probe: Probe): Promise<ReadonlyMap<number, string>> {
  const url = "/eth/v1/beacon/states/head/validators?id=0&id=1&id=2&id=3&id=4&id=5";
  const pubkeys = await read(probe, url, (data) =>
    (data as unknown[]).map((each) => {
      return [integerOf(each, "index"), String(memberOf(memberOf(each, "validator"), "pubkey"))] as const;
    }),
  );
  return new Map(pubkeys?.filter(([, pubkey]) => PUBKEY.test(pubkey)));
}

const PUBKEY = /^0x[0-9a-f]{96}$/i;
const PEER_ID = /^\w{1,128}$/;

async function observe({ client, timeoutMillis }: Probe): Promise<Observation & Pick<Inspection, "observedAt">> {
  try {
    const observation = await poll(client, { timers: SYSTEM_TIMERS, timeoutMillis, includesVersion: true });
    return { ...observation, observedAt: SYSTEM_TIMERS.unixNow() };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { shortcoming: `It does not report its sync status: ${error.message}` };
  }
}

/** Returns the parsed `data` of a response, or undefined if it is unavailable or invalid. */
async function read<T>(
  { client, timeoutMillis }: Probe,
  url: string,
  reader: (data: unknown) => T,
): Promise<T | undefined> {
  let data: unknown;
  try {
    data = await fetchData(client, url, { timers: SYSTEM_TIMERS, timeoutMillis });
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return undefined;
  }
  try {
    return reader(data);
  } catch {
    return undefined;
  }
}

function tryParseChainSpec(spec: unknown, genesis: unknown): ChainSpec | undefined {
  try {
    return parseChainSpec(spec, genesis);
  } catch {
    return undefined;
  }
}

function firstPeerId(data: unknown): string | undefined {
  const id = memberOf(memberOf(data, "0"), "peer_id");
  return typeof id === "string" && PEER_ID.test(id) ? id : undefined;
}

/** Describes a server that does not respond like a beacon node. */
function describeNonNode(response: ProbeResponse): string {
  const { status, mediaType } = response;
  if (status === 401 || status === 403) {
    return `It requires credentials (HTTP status ${status}). Put them into its URL or use --token-file.`;
  }
  if (mediaType === "text/html") return "It is not a beacon node: it answers with a web page.";
  if (status === 404 || status === 405) {
    return `It does not serve the Beacon API (HTTP status ${status}). Check its port and path.`;
  }
  if (status >= 400) return `It does not report its version (HTTP status ${status}).`;
  const what = hasFormat(response, "json") ? "JSON of another shape" : mediaType || "no media type";
  return `It is not a beacon node: it answers with ${what} (HTTP status ${status}).`;
}
