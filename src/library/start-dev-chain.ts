import type { ForkName } from "../client/chain-types.ts";
import { type ClientOptions, createClient } from "../client/index.ts";
import { readClientOptions } from "../client/node-url.ts";
import type { DevIdentity } from "../dev/identity.ts";
import { fundedAccounts } from "../evm/accounts.ts";
import { preloadEvm } from "../node/execution/preload-evm.ts";
import { enableCompileCache } from "../runtime/compile-cache.ts";
import { missingNativeModule, missingNativeModuleMessage } from "../runtime/native-modules.ts";
import { chainActions } from "./chain-actions.ts";
import { ChainEthProvider } from "./chain-eth-provider.ts";
import type { DevChain, DevChainOptions, Epoch, ForksOf } from "./dev-chain.ts";
import { StartupError } from "./startup-error.ts";

const REQUIRED_MAJOR = 22;

/**
 * Starts a dev chain with in-process validators. Throws a `StartupError` if an option is invalid. Results are typed for
 * the forks selected by the options.
 */
export async function startDevChain<
  Genesis extends ForkName = never,
  Later extends ForkName = never,
  Directory extends string = never,
  GloasAt extends Epoch = never,
>(
  options: DevChainOptions<Genesis, Later, Directory, GloasAt> = {},
): Promise<DevChain<ForksOf<Genesis, Later, Directory, GloasAt>>> {
  if (Number.parseInt(process.versions.node, 10) < REQUIRED_MAJOR) {
    throw new Error(`Unsupported Node version ${process.version}. A chain requires Node ${REQUIRED_MAJOR} or newer.`);
  }
  enableCompileCache();
  try {
    const { readOptions } = await import("./options.ts");
    const settings = readOptions(options, await storedChain(options));
    await choosePreset(settings.preset);
    if (settings.evm) {
      preloadEvm();
      const { sharedReadThread } = await import("../node/eth-reads/shared-read-thread.ts");
      sharedReadThread().preload();
    }
    const { openDevChain } = await import("./open-dev-chain.ts");
    return await openDevChain(settings, { isTemporary: options.dataDir === undefined, log: options.log });
  } catch (error) {
    const missing = missingNativeModule(error);
    if (missing) throw new Error(missingNativeModuleMessage(missing));
    const { toStartupError } = await import("./to-startup-error.ts");
    throw toStartupError(error);
  }
}

/** Connects to a running `fanal dev` through an http:// URL or, to receive events, a ws:// URL. */
export function attachDevChain<F extends ForkName = ForkName>(options: ClientOptions): DevChain<F> {
  const { url, token } = readClientOptions("attachDevChain", options);
  const client = createClient<F>({ url, ...(token !== undefined && { token }) });
  const eth = new ChainEthProvider(async (method, params) => {
    if (method !== "eth_subscribe") return client.call(method, params);
    throw new Error("Subscriptions of another process need a WebSocket client, such as webSocket() of viem.");
  }, "The client is closed.");
  const stop = async () => {
    eth.close();
    await client.close();
  };
  return {
    ...chainActions(client),
    client,
    eth,
    get accounts() {
      return fundedAccounts();
    },
    url,
    restUrl: undefined,
    ethRpcUrl: undefined,
    signerUrl: undefined,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function storedChain({ dataDir }: DevChainOptions): Promise<DevIdentity | null> {
  if (dataDir === undefined) return null;
  const { readStoredDevChain } = await import("../node/storage/stored-database.ts");
  const { createLogger } = await import("../log/pino-logger.ts");
  // Database problems are logged when the chain is opened.
  const { logger } = createLogger({ format: "text", spec: "ERROR", destination: { write: () => {} } });
  return readStoredDevChain(dataDir, logger);
}

/** Sets the preset. The consensus libraries read it once, when they are loaded. */
async function choosePreset(preset: string): Promise<void> {
  const before = process.env.LODESTAR_PRESET;
  process.env.LODESTAR_PRESET = preset;
  const { ACTIVE_PRESET } = await import("@lodestar/params");
  if (ACTIVE_PRESET === preset) return;
  // Assigning undefined would set the string "undefined".
  if (before === undefined) delete process.env.LODESTAR_PRESET;
  else process.env.LODESTAR_PRESET = before;
  throw new StartupError(
    "invalid-option",
    `This process uses the preset ${ACTIVE_PRESET}. Start a chain with the preset ${preset} in another process.`,
  );
}
