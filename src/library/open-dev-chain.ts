import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMethodTable } from "../api/bound-methods.ts";
import { ClosingStack } from "../async/closing-stack.ts";
import { useNativeHasher } from "../chain/native-hasher.ts";
import type { DevOptions } from "../cli/flags/options.ts";
import { serverOptions } from "../cli/start/serving.ts";
import { requireUsablePeers } from "../cli/start/usable-peers.ts";
import { clientOver } from "../client/client.ts";
import { PromiseTracker } from "../debug/promise-tracker.ts";
import { createLogger } from "../log/pino-logger.ts";
import { DevNode } from "../node/dev-node.ts";
import type { DevChain, DevChainOptions } from "./dev-chain.ts";
import { InProcessTransport } from "./in-process-transport.ts";

interface Surroundings extends Pick<DevChainOptions, "log"> {
  /** Whether the chain has a directory that is made for it and removed with it. */
  isTemporary: boolean;
}

/** Loads the consensus libraries, so that the preset has to be chosen before. */
export async function openDevChain(options: DevOptions, { isTemporary, log }: Surroundings): Promise<DevChain> {
  await using opening = new ClosingStack();
  let { dataDir } = options;
  if (isTemporary) {
    dataDir = await mkdtemp(join(tmpdir(), "fanal-chain-"));
    opening.defer(() => rm(dataDir, { recursive: true, force: true }));
  }
  const { logger, setSpec } = createLogger({
    format: options.logFormat,
    spec: options.logLevel,
    destination: { write: (line) => log?.(line) },
    colour: false,
  });
  useNativeHasher(logger);
  const servers = serverOptions(options, logger);
  const futures = options.trackFutures ? PromiseTracker.started() : undefined;
  opening.defer(() => futures?.close());
  const { networking } = options;
  if (networking) await requireUsablePeers(networking);
  const node = await DevNode.open({
    ...options,
    dataDir,
    ...(networking && { networkDirectory: join(dataDir, "network") }),
    servers,
    logger,
    setLogSpec: setSpec,
    futures,
  });
  opening.defer(() => node.close());
  const client = clientOver(new InProcessTransport(createMethodTable(node.node.api), logger.topic("rpc")));
  opening.defer(() => client.close());
  await node.start();
  const opened = opening.move();
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= opened[Symbol.asyncDispose]();
    return stopped;
  };
  const { jsonRpcUrl: url, restUrl } = node.servers;
  return { client, url, restUrl, stop, [Symbol.asyncDispose]: stop };
}
