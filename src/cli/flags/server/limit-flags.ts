import { DEFAULT_SERVER_LIMITS, type ServerLimits } from "../../../node/servers/server-limits.ts";
import { type FlagValues, valueFlag } from "../flag.ts";
import { wholeNumber } from "../flag-values.ts";

function limitFlag(name: string, placeholder: string, description: string, fallback: number) {
  return valueFlag({ name, kind: "number", placeholder, description, fallback, parse: wholeNumber(1) });
}

const limits = DEFAULT_SERVER_LIMITS;

/** Server limits excluding those on heavy calls, which do not apply to a gateway. */
export type PlainLimits = Omit<ServerLimits, "calls">;

/** Limits that apply to every server. */
export const SERVER_LIMIT_FLAGS = {
  maxConnections: limitFlag(
    "max-connections",
    "COUNT",
    "Concurrent connections of each server, and WebSocket subscriptions",
    limits.connections,
  ),
  maxBodyBytes: limitFlag(
    "max-body-bytes",
    "BYTES",
    "Size limit of requests with a list or an object parameter, such as a block; over JSON-RPC the method must be in " +
      "the first MiB. Other requests are limited to 1 MiB",
    limits.bodyBytes,
  ),
  maxHeldBytes: limitFlag(
    "max-held-bytes",
    "BYTES",
    "Memory of each server for pending requests, of all clients",
    limits.heldBytes,
  ),
  maxUnreadBytes: limitFlag(
    "max-unread-bytes",
    "BYTES",
    "Memory of each server for unread responses, of all clients",
    limits.unreadBytes,
  ),
  maxBatchCalls: limitFlag("max-batch-calls", "COUNT", "Calls per batch", limits.batchLength),
  maxBatchBytes: limitFlag(
    "max-batch-bytes",
    "BYTES",
    "Size of a batch's responses after which its remaining calls are rejected",
    limits.batchBytes,
  ),
  callTimeout: limitFlag("call-timeout", "SECONDS", "Timeout of a call", limits.requestMillis / 1000),
  stallTimeout: limitFlag(
    "stall-timeout",
    "SECONDS",
    "Timeout for a client that stops sending its request or reading its response",
    limits.stallMillis / 1000,
  ),
  rateLimit: valueFlag({
    name: "rate-limit",
    kind: "number",
    placeholder: "COUNT",
    description: "Requests per second of one address to each server",
    fallback: undefined,
    fallbackText: "no limit",
    parse: wholeNumber(1),
  }),
} as const;

/** Limits that apply to a node's servers. */
export const LIMIT_FLAGS = {
  ...SERVER_LIMIT_FLAGS,
  maxHeavyCalls: limitFlag(
    "max-heavy-calls",
    "COUNT",
    "Concurrent heavy calls, which may replay blocks or iterate over all validators",
    limits.calls.heavy.running,
  ),
  maxWaitingCalls: limitFlag(
    "max-waiting-calls",
    "COUNT",
    "Queued heavy calls; more are rejected at once",
    limits.calls.heavy.waiting,
  ),
  maxStreams: limitFlag("max-streams", "COUNT", "Concurrent large responses being sent", limits.calls.streams),
} as const;

export function plainLimits(values: FlagValues<typeof SERVER_LIMIT_FLAGS>): PlainLimits {
  const { calls: _, ...defaults } = limits;
  return {
    ...defaults,
    connections: values.maxConnections,
    bodyBytes: values.maxBodyBytes,
    smallBodyBytes: Math.min(limits.smallBodyBytes, values.maxBodyBytes),
    heldBytes: values.maxHeldBytes,
    unreadBytes: values.maxUnreadBytes,
    batchLength: values.maxBatchCalls,
    batchBytes: values.maxBatchBytes,
    requestMillis: values.callTimeout * 1000,
    stallMillis: values.stallTimeout * 1000,
    requestsPerSecond: values.rateLimit,
  };
}

export function serverLimits(values: FlagValues<typeof LIMIT_FLAGS>): ServerLimits {
  return {
    ...plainLimits(values),
    calls: {
      ...limits.calls,
      heavy: { running: values.maxHeavyCalls, waiting: values.maxWaitingCalls },
      streams: values.maxStreams,
    },
  };
}
