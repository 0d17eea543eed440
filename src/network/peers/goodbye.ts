import { peerIdFromString } from "@libp2p/peer-id";
import { closeConnection, type Host } from "../libp2p/host.ts";
import type { BeaconRequests } from "../reqresp/interface.ts";

/**
 * Goodbye reason codes. The specification defines codes 1 to 3 (phase0/p2p-interface.md, Goodbye), and clients use
 * further codes above 127.
 */
export const GOODBYE = {
  shutdown: 1n,
  irrelevantNetwork: 2n,
  fault: 3n,
  tooManyPeers: 129n,
  badScore: 250n,
  banned: 251n,
} as const;

const NAMES = new Map<bigint, string>([
  [GOODBYE.shutdown, "client shut down"],
  [GOODBYE.irrelevantNetwork, "irrelevant network"],
  [GOODBYE.fault, "fault or error"],
  [128n, "unable to verify the network"],
  [GOODBYE.tooManyPeers, "too many peers"],
  [GOODBYE.badScore, "bad score"],
  [GOODBYE.banned, "banned"],
]);

/** Describes a goodbye reason for logs. */
export function goodbyeText(reason: bigint): string {
  return NAMES.get(reason) ?? `reason ${reason}`;
}

const MINUTE_MS = 60_000;

/** Delay before dialing a peer again. */
export interface DialDelay {
  ms: number;
  /** Strict delays apply even if the node has few peers. */
  isStrict: boolean;
}

/**
 * Returns the dial delay after sending or receiving a goodbye. If the reason is an irrelevant network, the delay is
 * strict unless the peer has been on our chain until now.
 */
export function dialDelayAfter(reason: bigint, wasRelevant: boolean): DialDelay {
  const isStrict = reason === GOODBYE.banned || (reason === GOODBYE.irrelevantNetwork && !wasRelevant);
  return { ms: dialDelayMs(reason), isStrict };
}

function dialDelayMs(reason: bigint): number {
  if (reason === GOODBYE.shutdown) return MINUTE_MS;
  if (reason === GOODBYE.tooManyPeers || reason === GOODBYE.badScore) return 5 * MINUTE_MS;
  if (reason === GOODBYE.banned) return 30 * MINUTE_MS;
  return 10 * MINUTE_MS;
}

const GOODBYE_MS = 1_000;

interface DisconnectorParts {
  host: Pick<Host, "getConnections">;
  requests: Pick<BeaconRequests, "goodbye">;
}

/** Disconnects peers, with or without a goodbye. Aborts connections that do not close in time. */
export class Disconnector {
  readonly #parts: DisconnectorParts;
  readonly #inFlight = new Map<string, Promise<void>>();

  constructor(parts: DisconnectorParts) {
    this.#parts = parts;
  }

  isDisconnecting(peerId: string): boolean {
    return this.#inFlight.has(peerId);
  }

  /** Disconnects a peer. Never rejects. If no reason is given, no goodbye is sent. */
  disconnect(peerId: string, reason?: bigint): Promise<void> {
    const inFlight = this.#inFlight.get(peerId);
    if (inFlight) return inFlight;
    const disconnecting = this.#disconnect(peerId, reason).finally(() => this.#inFlight.delete(peerId));
    this.#inFlight.set(peerId, disconnecting);
    return disconnecting;
  }

  /** Resolves once no disconnect is in progress. */
  async idle(): Promise<void> {
    await Promise.all(this.#inFlight.values());
  }

  async #disconnect(peerId: string, reason: bigint | undefined): Promise<void> {
    const { host, requests } = this.#parts;
    if (reason !== undefined) await settledWithin(GOODBYE_MS, requests.goodbye(peerId, reason));
    const connections = host.getConnections(peerIdFromString(peerId));
    await Promise.all(connections.map(closeConnection));
  }
}

/** Resolves when the work settles or the timeout expires. Ignores failures. */
async function settledWithin(ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    await Promise.race([promise, work.catch(() => {})]);
  } finally {
    clearTimeout(timer);
  }
}
