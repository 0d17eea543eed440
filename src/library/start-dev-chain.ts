import { createClient } from "../client/index.ts";
import type { DevIdentity } from "../dev/identity.ts";
import { missingNativeModule, missingNativeModuleMessage } from "../runtime/native-modules.ts";
import type { DevChain, DevChainOptions } from "./dev-chain.ts";

const REQUIRED_MAJOR = 22;

/** Starts a beacon chain in this process, with validators of its own. */
export async function startDevChain(options: DevChainOptions = {}): Promise<DevChain> {
  if (Number.parseInt(process.versions.node, 10) < REQUIRED_MAJOR) {
    throw new Error(`fanal needs Node ${REQUIRED_MAJOR} or newer to run a chain, and this is ${process.version}.`);
  }
  try {
    const { readOptions } = await import("./options.ts");
    const read = readOptions(options, await storedChain(options));
    await choosePreset(read.preset);
    const { openDevChain } = await import("./open-dev-chain.ts");
    return await openDevChain(read, { isTemporary: options.dataDir === undefined, log: options.log });
  } catch (error) {
    const missing = missingNativeModule(error);
    throw missing ? new Error(missingNativeModuleMessage(missing)) : error;
  }
}

/** The chain of a `fanal dev` that runs elsewhere. Its URL begins with http:// or, for events as well, with ws://. */
export function attachDevChain({ url, token }: { url: string; token?: string }): DevChain {
  const client = createClient({ url, ...(token !== undefined && { token }) });
  const stop = () => client.close();
  return { client, url, restUrl: undefined, stop, [Symbol.asyncDispose]: stop };
}

async function storedChain({ dataDir }: DevChainOptions): Promise<DevIdentity | null> {
  if (dataDir === undefined) return null;
  const { readStoredDevChain } = await import("../node/storage/stored-database.ts");
  const { createLogger } = await import("../log/pino-logger.ts");
  // Whatever there is to say of the database is said when the chain is opened.
  const { logger } = createLogger({ format: "text", spec: "ERROR", destination: { write: () => {} } });
  return readStoredDevChain(dataDir, logger);
}

/** The consensus libraries read the preset when they are loaded, which is for good. */
async function choosePreset(preset: string): Promise<void> {
  const before = process.env.LODESTAR_PRESET;
  process.env.LODESTAR_PRESET = preset;
  const { ACTIVE_PRESET } = await import("@lodestar/params");
  if (ACTIVE_PRESET === preset) return;
  // A variable that is given undefined becomes the text of it.
  if (before === undefined) delete process.env.LODESTAR_PRESET;
  else process.env.LODESTAR_PRESET = before;
  throw new Error(
    `This process runs chains of the preset ${ACTIVE_PRESET}, and a chain of the preset ${preset} needs one of its own.`,
  );
}
