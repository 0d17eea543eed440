import { SYSTEM_TIMERS } from "../async/timers.ts";
import type { Logger } from "../log/logger.ts";
import { type ChainFacts, readChainFacts } from "./chain-facts.ts";
import type { UpstreamOptions } from "./options.ts";
import { UpstreamClient } from "./upstream/upstream-client.ts";

/** Learns of the chain from the upstreams, before anything is loaded that has to know its preset; waits until one of them answers. */
export async function readFacts(
  upstreams: readonly UpstreamOptions[],
  signal: AbortSignal,
  logger: Logger,
): Promise<ChainFacts> {
  const clients = upstreams.map((upstream) => new UpstreamClient(upstream, { timers: SYSTEM_TIMERS }));
  try {
    return await readChainFacts(clients, signal, logger);
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}
