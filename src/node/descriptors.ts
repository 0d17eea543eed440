import { readFile } from "node:fs/promises";
import type { Logger } from "../log/logger.ts";
import type { NetworkingOptions } from "../network/networking-options.ts";
import { maxPeers } from "../network/peers/peer-pruner.ts";
import { DEFAULT_SERVER_LIMITS } from "./server-limits.ts";
import type { ServersOptions } from "./servers.ts";

/** LevelDB keeps so many of its files open (max_open_files). */
const DATABASE_FILES = 1000;
/** Of the program itself: its code, its log and its threads. */
const OTHERS = 256;
/** With fewer connections than this a server is short of them. */
const ENOUGH_CONNECTIONS = 1024;
/** What a server is left with however little the system allows. */
const FEWEST_CONNECTIONS = 64;

/** Servers with whatever else is said of them. */
type Wanted = Pick<ServersOptions, "jsonRpc" | "rest"> & { limits?: { connections: number } };

interface DescriptorUsers<Servers extends Wanted> {
  servers: Servers;
  networking: NetworkingOptions | undefined;
}

/**
 * The servers with as many connections as the system lets the process have beside its files and peers, so that clients
 * cannot take from the database what it needs. Tells of fewer than wanted, and warns of few. Only Linux tells what it allows.
 */
export async function withinDescriptors<Servers extends Wanted>(
  { servers, networking }: DescriptorUsers<Servers>,
  logger: Logger,
  readLimits = () => readFile("/proc/self/limits", "utf8"),
): Promise<Servers & Wanted> {
  const text = await readLimits().catch(() => "");
  const allowed = Number(text.match(/^Max open files +(\d+)/m)?.[1] ?? Number.POSITIVE_INFINITY);
  const limits = servers.limits ?? DEFAULT_SERVER_LIMITS;
  const count = [servers.jsonRpc, servers.rest].filter((server) => server !== undefined).length;
  // A peer that is too many is let in before it is sent away.
  const reserved = DATABASE_FILES + OTHERS + (networking ? 2 * maxPeers(networking.targetPeers) : 0);
  const needed = reserved + count * limits.connections;
  if (allowed >= needed) return servers;
  const connections = Math.max(FEWEST_CONNECTIONS, Math.floor((allowed - reserved) / Math.max(count, 1)));
  const tell = connections < ENOUGH_CONNECTIONS ? logger.warn : logger.info;
  tell(
    "The system lets this process have fewer files and connections open than its limits add up to, so that each server " +
      'takes fewer connections; raise "ulimit -n" (LimitNOFILE of systemd)',
    { allowed, needed, connections },
  );
  return { ...servers, limits: { ...limits, connections: Math.min(connections, limits.connections) } };
}
