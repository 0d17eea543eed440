import { peerIdFromString } from "@libp2p/peer-id";
import { closeConnection, type Host } from "../libp2p/host.ts";
import type { BeaconRequests } from "../reqresp/interface.ts";

/**
 * Why one disconnects: 1 to 3 are of the specification (phase0/p2p-interface.md, Goodbye), those above 127 are what clients
 * have in use.
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

export function goodbyeText(reason: bigint): string {
  return NAMES.get(reason) ?? `reason ${reason}`;
}

const MINUTE_MS = 60_000;

/** How long a peer is not dialled. */
export interface Silence {
  ms: number;
  /** Whether it is kept by a node that has hardly any peers, too. */
  isFirm: boolean;
}

/** The silence after a goodbye with this reason, whoever said it. A peer that was one of our chain until now may well be one again. */
export function silenceAfter(reason: bigint, wasRelevant: boolean): Silence {
  const isFirm = reason === GOODBYE.banned || (reason === GOODBYE.irrelevantNetwork && !wasRelevant);
  return { ms: silenceMs(reason), isFirm };
}

function silenceMs(reason: bigint): number {
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

/** Ends connections, with or without a last word, whether the peer helps or not. */
export class Disconnector {
  readonly #parts: DisconnectorParts;
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(parts: DisconnectorParts) {
    this.#parts = parts;
  }

  isDisconnecting(peerId: string): boolean {
    return this.#underWay.has(peerId);
  }

  /** Never fails. Without a reason nothing is said. */
  disconnect(peerId: string, reason?: bigint): Promise<void> {
    const underWay = this.#underWay.get(peerId);
    if (underWay) return underWay;
    const disconnecting = this.#disconnect(peerId, reason).finally(() => this.#underWay.delete(peerId));
    this.#underWay.set(peerId, disconnecting);
    return disconnecting;
  }

  /** Resolves when nobody is being disconnected any more. */
  async idle(): Promise<void> {
    await Promise.all(this.#underWay.values());
  }

  async #disconnect(peerId: string, reason: bigint | undefined): Promise<void> {
    const { host, requests } = this.#parts;
    if (reason !== undefined) await atMost(GOODBYE_MS, requests.goodbye(peerId, reason));
    const connections = host.getConnections(peerIdFromString(peerId));
    await Promise.all(connections.map(closeConnection));
  }
}

/** The end of the work, or of its time; how it ended is of no interest. */
async function atMost(ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    await Promise.race([promise, work.catch(() => {})]);
  } finally {
    clearTimeout(timer);
  }
}
