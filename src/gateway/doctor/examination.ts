import { SYSTEM_TIMERS } from "../../async/timers.ts";
import { type ChainFacts, factsOf } from "../chain-facts.ts";
import { UpstreamError } from "../exchange.ts";
import { askForData } from "../upstream/ask.ts";
import type { Observation } from "../upstream/judge.ts";
import { poll, readHead, readVersion } from "../upstream/poll.ts";
import { integerOf, memberOf } from "../upstream/read-json.ts";
import { Turns } from "../upstream/turns.ts";
import { isOfForm, jsonOf, type Probe, type Told } from "./probe.ts";

/** What an upstream says of itself and of its chain; each of it may be untold. Nothing else is there when it cannot be asked. */
export interface Examination extends Observation {
  readonly upstream: string;
  /** Unix milliseconds at which it said how far it is. */
  readonly observedAt?: number;
  /** The constants of its chain, as it writes them. */
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly facts?: ChainFacts;
  readonly justifiedEpoch?: number;
  /** The block of the finalized checkpoint. */
  readonly finalizedBlock?: BlockPlace;
  readonly connectedPeers?: number;
  /** A peer that it is connected to, where it has one. */
  readonly peerId?: string;
}

export interface BlockPlace {
  readonly slot: number;
  readonly root: string;
}

/** Each is asked some ten things at once. */
const MOST_AT_ONCE = 32;

/** Asks upstreams what they are and how far they are, at the same time: one that hangs is waited for beside the others. */
export function examineAll(probes: readonly Probe[]): Promise<Examination[]> {
  const turns = new Turns(MOST_AT_ONCE);
  return Promise.all(
    probes.map(async (probe) => {
      await new Promise<void>((begin) => turns.take(begin));
      try {
        return await examine(probe);
      } finally {
        turns.giveBack();
      }
    }),
  );
}

/** Asks an upstream what it is and how far it is. */
export async function examine(probe: Probe): Promise<Examination> {
  const { upstream } = probe;
  try {
    const first = await probe.get("/eth/v1/node/version");
    const genesis = await read(probe, "/eth/v1/beacon/genesis", (data) => data);
    const identity = memberOf(jsonOf(first), "data");
    const version = memberOf(identity, "version") === undefined ? undefined : readVersion(identity);
    if (genesis === undefined && version === undefined) return { upstream, failure: strangeness(first) };
    // At once, so that one who is silent about all of it is not waited for again and again.
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
    const facts = factsAmong(spec, genesis);
    return { upstream, version, ...observation, spec, facts, justifiedEpoch, finalizedBlock, connectedPeers, peerId };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return { upstream, failure: error.message };
  }
}

/** Which block an upstream has; undefined when it does not tell. */
export function headerOf(probe: Probe, blockId: string): Promise<BlockPlace | undefined> {
  return read(probe, `/eth/v1/beacon/headers/${blockId}`, readHead);
}

/** The public keys of the first validators, by their indices; none when it does not tell. */
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

async function observe({ client, timeoutMillis }: Probe): Promise<Observation & Pick<Examination, "observedAt">> {
  try {
    const observation = await poll(client, { timers: SYSTEM_TIMERS, timeoutMillis, asksForVersion: true });
    return { ...observation, observedAt: SYSTEM_TIMERS.unixNow() };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { shortcoming: `It does not tell whether it is syncing: ${error.message}` };
  }
}

/** What stands under `data`; undefined when it is not told, or cannot be understood. */
async function read<T>(
  { client, timeoutMillis }: Probe,
  url: string,
  reader: (data: unknown) => T,
): Promise<T | undefined> {
  let data: unknown;
  try {
    data = await askForData(client, url, { timers: SYSTEM_TIMERS, timeoutMillis });
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

function factsAmong(spec: unknown, genesis: unknown): ChainFacts | undefined {
  try {
    return factsOf(spec, genesis);
  } catch {
    return undefined;
  }
}

function firstPeerId(data: unknown): string | undefined {
  const id = memberOf(memberOf(data, "0"), "peer_id");
  return typeof id === "string" && PEER_ID.test(id) ? id : undefined;
}

/** What it is that does not answer as a beacon node does. */
function strangeness(told: Told): string {
  const { status, mediaType } = told;
  if (status === 401 || status === 403) {
    return `It lets nobody in without credentials (HTTP status ${status}): put them into its URL or give --token-file.`;
  }
  if (mediaType === "text/html") return "It is no beacon node: what answers there is a web page.";
  if (status === 404 || status === 405) {
    return `The standard REST API is not there (HTTP status ${status}): is it on another port, or under another path?`;
  }
  if (status >= 400) return `It does not say who it is (HTTP status ${status}).`;
  const what = isOfForm(told, "json") ? "JSON of another form" : mediaType || "nothing that is named";
  return `It is no beacon node: it answers ${what} (HTTP status ${status}).`;
}
