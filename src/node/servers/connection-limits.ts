import { readFile } from "node:fs/promises";
import type { Logger } from "../../log/logger.ts";
import type { NetworkSettings } from "../../network/network-settings.ts";
import { maxPeers } from "../../network/peers/peer-pruner.ts";
import { DEFAULT_SERVER_LIMITS } from "./server-limits.ts";
import type { ServersOptions } from "./servers.ts";

/** LevelDB's max_open_files. */
const DATABASE_FILES = 1000;
/** Descriptors for code, logs and threads. */
const OTHER_FILES = 256;
/** A lower limit is logged as a warning. */
const ENOUGH_CONNECTIONS = 256;
/** Lower bound, regardless of the system limit. */
const MIN_CONNECTIONS = 64;

type LimitedServers = Pick<ServersOptions, "jsonRpc" | "ethRpc" | "rest"> & { limits?: { connections: number } };

interface LimitOptions<Servers extends LimitedServers> {
  servers: Servers;
  networking: NetworkSettings | undefined;
}

/**
 * Lowers the connection limit of the servers to fit the file descriptor limit (`ulimit -n`), minus the descriptors used
 * by the database and peers. Logs the reduction. Works only on Linux, where the limit can be read.
 */
export async function limitConnections<Servers extends LimitedServers>(
  { servers, networking }: LimitOptions<Servers>,
  logger: Logger,
  readLimits = () => readFile("/proc/self/limits", "utf8"),
): Promise<Servers & LimitedServers> {
  const text = await readLimits().catch(() => "");
  const allowed = Number(text.match(/^Max open files +(\d+)/m)?.[1] ?? Number.POSITIVE_INFINITY);
  const limits = servers.limits ?? DEFAULT_SERVER_LIMITS;
  const count = [servers.jsonRpc, servers.ethRpc, servers.rest].filter((server) => server !== undefined).length;
  // Excess peers are accepted before being pruned.
  const reserved = DATABASE_FILES + OTHER_FILES + (networking ? 2 * maxPeers(networking.targetPeers) : 0);
  const needed = reserved + count * limits.connections;
  if (allowed >= needed) return servers;
  const connections = Math.max(MIN_CONNECTIONS, Math.floor((allowed - reserved) / Math.max(count, 1)));
  const log = connections < ENOUGH_CONNECTIONS ? logger.warn : logger.info;
  log("File descriptor limit too low, reducing max connections; raise ulimit -n", { allowed, needed, connections });
  return { ...servers, limits: { ...limits, connections: Math.min(connections, limits.connections) } };
}
