import type { ChainForkConfig } from "@lodestar/config";
import { toRootHex } from "@lodestar/utils";
import type { Timers } from "../../async/timers.ts";
import { isDevConfig } from "../../dev/chain-config.ts";
import { EngineUnavailableError } from "../../execution/engine.ts";
import { EngineApi } from "../../execution/engine-api/engine-api.ts";
import { type ExecutionGenesis, readExecutionGenesis } from "../../execution/engine-api/genesis-block.ts";
import type { Logger } from "../../log/logger.ts";
import { StartError } from "../start-error.ts";
import { loadOrCreateJwtSecret, reloadingJwtSecret } from "./jwt-secret.ts";

/** Connection to the execution clients. */
export interface ExecutionSettings {
  /** Engine API URLs in order of preference. */
  urls: readonly string[];
  /** An absolute path. */
  jwtSecretFile: string;
  /** Default: the system timers. */
  timers?: Timers;
}

/**
 * Connects to the execution clients. They may be offline, since the node can follow the chain without them. The signal
 * cancels all calls.
 */
export async function connectExecutionClients(
  { urls, jwtSecretFile, timers }: ExecutionSettings,
  config: ChainForkConfig,
  logger: Logger,
  signal?: AbortSignal,
): Promise<EngineApi> {
  signal?.throwIfAborted();
  // Only a dev chain knows the genesis block of its execution client; others know only the chain id.
  const genesisBlockHash = isDevConfig(config) ? toRootHex(config.TERMINAL_BLOCK_HASH) : undefined;
  const jwtSecret = reloadingJwtSecret(jwtSecretFile, logger);
  const engine = new EngineApi({
    urls,
    jwtSecret,
    config,
    genesisBlockHash,
    timers,
    logger: logger.topic("execution"),
  });
  signal?.addEventListener("abort", () => engine.close(), { once: true });
  await engine.connect();
  signal?.throwIfAborted();
  return engine;
}

/** Reads the genesis block for a new dev chain. Throws a `StartError` if the client is unavailable. */
export async function readClientGenesis(
  { urls, jwtSecretFile, timers }: ExecutionSettings,
  logger: Logger,
  signal?: AbortSignal,
): Promise<ExecutionGenesis> {
  const jwtSecret = loadOrCreateJwtSecret(jwtSecretFile, logger);
  try {
    return await readExecutionGenesis(urls, jwtSecret, { timers, signal });
  } catch (error) {
    if (!(error instanceof EngineUnavailableError)) throw error;
    throw new StartError("noExecutionClient", error.message, error);
  }
}
