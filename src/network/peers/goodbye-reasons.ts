/**
 * Why one leaves: 1 to 3 are of the specification (phase0/p2p-interface.md, Goodbye), those above 127 are what clients
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

/** How long a peer that left with this reason is left alone. */
export function silenceAfter(reason: bigint): number {
  if (reason === GOODBYE.shutdown) return MINUTE_MS;
  if (reason === GOODBYE.tooManyPeers || reason === GOODBYE.badScore) return 5 * MINUTE_MS;
  if (reason === GOODBYE.banned) return 30 * MINUTE_MS;
  return 10 * MINUTE_MS;
}
