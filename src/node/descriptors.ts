import { readFile } from "node:fs/promises";
import type { Logger } from "../log/logger.ts";
import type { NetworkingOptions } from "../network/networking-options.ts";
import { maxPeers } from "../network/peers/pruning.ts";
import { DEFAULT_LIMITS as EVENT_STREAM_LIMITS } from "../server/events/sse.ts";
import { DEFAULT_LIMITS as WEBSOCKET_LIMITS } from "../server/jsonrpc/websocket/websockets.ts";
import type { ServersOptions } from "./servers.ts";

/** LevelDB keeps so many of its files open (max_open_files). */
const DATABASE_FILES = 1000;
/** Of the program itself: its code, its log, threads, and the calls that come and go. */
const OTHERS = 256;

interface DescriptorUsers {
  servers: ServersOptions;
  networking: NetworkingOptions | undefined;
}

/** How many files and connections may be open at once by the limits of the node's own parts. */
export function neededDescriptors({ servers, networking }: DescriptorUsers): number {
  const webSockets = servers.jsonRpc ? WEBSOCKET_LIMITS.connections : 0;
  const eventStreams = servers.rest ? EVENT_STREAM_LIMITS.streams : 0;
  // A peer that is too many is let in before it is sent away.
  const peers = networking ? 2 * maxPeers(networking.targetPeers) : 0;
  return DATABASE_FILES + OTHERS + webSockets + eventStreams + peers;
}

/** Warns when the system allows the process less than that. Only Linux tells what it allows. */
export async function warnOfFewDescriptors(
  users: DescriptorUsers,
  logger: Logger,
  readLimits = () => readFile("/proc/self/limits", "utf8"),
): Promise<void> {
  const limits = await readLimits().catch(() => "");
  const allowed = Number(limits.match(/^Max open files +(\d+)/m)?.[1] ?? Number.POSITIVE_INFINITY);
  const needed = neededDescriptors(users);
  if (allowed >= needed) return;
  logger.warn(
    "The system lets this process have fewer files and connections open than its own limits add up to; raise " +
      '"ulimit -n" (LimitNOFILE of systemd)',
    { allowed, needed },
  );
}
