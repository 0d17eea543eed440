import { DEFAULT_SERVER_LIMITS, type ServerLimits } from "../../node/servers/server-limits.ts";
import { type FlagValues, valueFlag } from "./flag.ts";
import { wholeNumber } from "./flag-values.ts";

function limitFlag(name: string, placeholder: string, description: string, fallback: number) {
  return valueFlag({ name, kind: "number", placeholder, description, fallback, parse: wholeNumber(1) });
}

const limits = DEFAULT_SERVER_LIMITS;

/** Those that every server has, whatever calls cost that it passes on. */
export type PlainLimits = Omit<ServerLimits, "calls">;

/** What clients may ask of any servers. */
export const SERVER_LIMIT_FLAGS = {
  maxConnections: limitFlag(
    "max-connections",
    "COUNT",
    "Connections that each server takes at once, and subscriptions over WebSocket",
    limits.connections,
  ),
  maxBodyBytes: limitFlag(
    "max-body-bytes",
    "BYTES",
    "Largest request that brings a list or an object, such as a block, and over JSON-RPC names such a method in its first MiB; " +
      "others may have a MiB",
    limits.bodyBytes,
  ),
  maxHeldBytes: limitFlag(
    "max-held-bytes",
    "BYTES",
    "What each server holds of requests that are not answered yet, of all clients together",
    limits.heldBytes,
  ),
  maxUnreadBytes: limitFlag(
    "max-unread-bytes",
    "BYTES",
    "What each server holds of answers that are not read yet, of all clients together",
    limits.unreadBytes,
  ),
  maxBatchCalls: limitFlag("max-batch-calls", "COUNT", "Calls that a batch may hold", limits.batchLength),
  maxBatchBytes: limitFlag(
    "max-batch-bytes",
    "BYTES",
    "Size of a batch's answers from which on the rest of its calls is refused",
    limits.batchBytes,
  ),
  callTimeout: limitFlag(
    "call-timeout",
    "SECONDS",
    "How long a call may take before it is given up",
    limits.requestMillis / 1000,
  ),
  stallTimeout: limitFlag(
    "stall-timeout",
    "SECONDS",
    "How long a client may neither send the rest of its request nor read the rest of its answer",
    limits.stallMillis / 1000,
  ),
  rateLimit: valueFlag({
    name: "rate-limit",
    kind: "number",
    placeholder: "COUNT",
    description: "Requests a second that one address may make to each server",
    fallback: undefined,
    fallbackText: "no limit",
    parse: wholeNumber(1),
  }),
} as const;

/** What they may ask of those of a node. */
export const LIMIT_FLAGS = {
  ...SERVER_LIMIT_FLAGS,
  maxHeavyCalls: limitFlag(
    "max-heavy-calls",
    "COUNT",
    "Calls that may replay blocks or go over all validators that are worked on at once",
    limits.calls.heavy.running,
  ),
  maxWaitingCalls: limitFlag(
    "max-waiting-calls",
    "COUNT",
    "Such calls that may wait for their turn; more are refused at once",
    limits.calls.heavy.waiting,
  ),
  maxStreams: limitFlag(
    "max-streams",
    "COUNT",
    "Large answers that may be on their way to their readers at once",
    limits.calls.streams,
  ),
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
