import { join } from "node:path";
import { createMethodTable } from "../api/bound-methods.ts";
import { ClosingStack } from "../async/closing-stack.ts";
import type { DevCommandSettings } from "../cli/flags/dev/dev-settings.ts";
import { serverOptions } from "../cli/start/servers.ts";
import { verifyPeers } from "../cli/start/verify-peers.ts";
import type { ForkName } from "../client/chain-types.ts";
import { clientOver } from "../client/client.ts";
import { PromiseTracker } from "../debug/promise-tracker.ts";
import { fundedAccounts } from "../evm/accounts.ts";
import { createLogger } from "../log/pino-logger.ts";
import { DevNode } from "../node/dev-node.ts";
import { useNativeHasher } from "../runtime/native-hasher.ts";
import { chainActions } from "./chain-actions.ts";
import { CHAIN_STOPPED, ChainEthProvider } from "./chain-eth-provider.ts";
import type { DevChain, DevChainOptions } from "./dev-chain.ts";
import { InProcessTransport } from "./in-process-transport.ts";
import { TemporaryDirectory } from "./temporary-directory.ts";

interface ChainContext extends Pick<DevChainOptions, "log"> {
  /** True to keep the database in memory and other files in a temporary directory. */
  isTemporary: boolean;
}

/** Opens a chain. Loads the consensus libraries, so the preset must be set first. */
export async function openDevChain<F extends ForkName>(
  settings: DevCommandSettings,
  { isTemporary, log }: ChainContext,
): Promise<DevChain<F>> {
  await using opening = new ClosingStack();
  let { dataDir } = settings;
  if (isTemporary) {
    const directory = new TemporaryDirectory();
    opening.defer(() => directory.remove());
    dataDir = directory.path;
  }
  const { logger, setSpec } = createLogger({
    format: settings.log.format,
    spec: settings.log.spec,
    destination: { write: (line) => log?.(line) },
    colour: false,
  });
  useNativeHasher(logger);
  const servers = serverOptions(settings, logger, { allowsLocalPages: true });
  const futures = settings.trackFutures ? PromiseTracker.started() : undefined;
  opening.defer(() => futures?.close());
  const { networking } = settings;
  if (networking) await verifyPeers(networking);
  const node = await DevNode.open({
    ...settings,
    dataDir,
    isInMemory: isTemporary,
    ...(networking && { networkDirectory: join(dataDir, "network") }),
    servers,
    logger,
    setLogSpec: setSpec,
    futures,
  });
  opening.defer(() => node.close());
  const transport = new InProcessTransport(createMethodTable(node.node.api), logger.topic("rpc"));
  const client = clientOver<F>(transport);
  opening.defer(() => transport.close(CHAIN_STOPPED));
  const eth = new ChainEthProvider((...request) => transport.request(...request), CHAIN_STOPPED);
  opening.defer(() => eth.close());
  await node.start();
  const opened = opening.move();
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= opened[Symbol.asyncDispose]();
    return stopped;
  };
  const { jsonRpcUrl: url, restUrl, ethRpcUrl, signerUrl } = node.servers;
  return {
    ...chainActions(client),
    client,
    eth,
    get accounts() {
      return settings.evm ? fundedAccounts() : [];
    },
    url,
    restUrl,
    ethRpcUrl,
    signerUrl,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
