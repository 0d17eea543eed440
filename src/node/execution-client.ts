import type { ChainForkConfig } from "@lodestar/config";
import { toRootHex } from "@lodestar/utils";
import type { Timers } from "../async/timers.ts";
import { isDevConfig } from "../dev/chain-config.ts";
import { EngineUnavailableError } from "../execution/engine.ts";
import { EngineApi } from "../execution/engine-api/engine-api.ts";
import { type ExecutionGenesis, readExecutionGenesis } from "../execution/engine-api/genesis-block.ts";
import type { Logger } from "../log/logger.ts";
import { followJwtSecret, openJwtSecret } from "./jwt-secret.ts";
import { StartError } from "./start-error.ts";

/** How the execution clients of a node are reached. */
export interface ExecutionClientOptions {
  /** Of the Engine API of each, the one to be used first. */
  urls: readonly string[];
  /** An absolute path. */
  jwtSecretFile: string;
  /** By default those of the machine. */
  timers?: Timers;
}

/**
 * The execution clients as the engine of a chain. Whether they are there shows later: a chain can be followed without them.
 * The signal ends whatever they are asked, from now on.
 */
export async function connectExecutionClients(
  { urls, jwtSecretFile, timers }: ExecutionClientOptions,
  config: ChainForkConfig,
  logger: Logger,
  signal?: AbortSignal,
): Promise<EngineApi> {
  signal?.throwIfAborted();
  // A dev chain goes on from the genesis block of its execution client; of another network only the chain id is known.
  const genesisBlockHash = isDevConfig(config) ? toRootHex(config.TERMINAL_BLOCK_HASH) : undefined;
  const jwtSecret = followJwtSecret(jwtSecretFile, logger);
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

/** What a new dev chain begins with is in its execution client, which therefore has to be there. */
export async function readClientGenesis(
  { urls, jwtSecretFile, timers }: ExecutionClientOptions,
  logger: Logger,
  signal?: AbortSignal,
): Promise<ExecutionGenesis> {
  const jwtSecret = openJwtSecret(jwtSecretFile, logger);
  try {
    return await readExecutionGenesis(urls, jwtSecret, { timers, signal });
  } catch (error) {
    if (!(error instanceof EngineUnavailableError)) throw error;
    throw new StartError("noExecutionClient", error.message, error);
  }
}
