import { mkdir, readdir } from "node:fs/promises";
import { TIME_OF_DAY } from "../../chain/clock/time-of-day.ts";
import { ChainMismatchError, type DevIdentity, requireSameChain } from "../../dev/identity.ts";
import { StartError } from "../../node/start-error.ts";
import { openStoredDatabase } from "../../node/storage/stored-database.ts";
import { EXIT_CODES, StartupError } from "../exit.ts";
import type { DevKeysSettings } from "../flags/dev/dev-keys-settings.ts";
import type { Terminal } from "../terminal.ts";

/** Runs `fanal dev keys export`. `stored` is the chain in the data directory, if there is one. */
export async function runKeysExport(
  directory: string,
  settings: DevKeysSettings,
  stored: DevIdentity | null,
  terminal: Terminal,
): Promise<number> {
  if (stored) requireSameSettings(stored, settings);
  await requireEmptyDirectory(directory);
  const { exportKeys } = await import("../../dev/key-export/export-keys.ts");
  const chain = stored ? await storedChain(stored, settings.dataDir) : await newChain(settings);
  const indices = settings.indices ?? Array.from({ length: chain.validators }, (_, index) => index);
  const files = await exportKeys(chain, indices, directory, Math.floor(TIME_OF_DAY.nowSeconds()));
  const rows = [
    ["keystores", files.keystores, `of ${indices.length} validators (EIP-2335)`],
    ["password", files.password, `of all keystores, also one file for each in ${files.passwords}`],
    ["deposits", files.depositData, "in the format of staking-deposit-cli"],
    ["slashing", files.slashingProtection, "slashing protection data (EIP-3076)"],
  ] as const;
  const width = Math.max(...rows.map(([, path]) => path.length));
  await terminal.write(
    rows.map(([name, path, note]) => `${name.padEnd(9)}  ${path.padEnd(width)}  ${note}\n`).join(""),
  );
  return EXIT_CODES.ok;
}

/** Throws if flags conflict with the stored chain. */
function requireSameSettings(stored: DevIdentity, settings: DevKeysSettings): void {
  try {
    requireSameChain(stored, { ...settings, execution: stored.execution });
  } catch (error) {
    if (!(error instanceof ChainMismatchError)) throw error;
    throw new StartError("otherDevChain", `The data directory ${settings.dataDir} holds ${error.storedChain}.`, error);
  }
}

/** Throws if the directory is not empty, for example because of an earlier export. */
async function requireEmptyDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true });
    if ((await readdir(directory)).length === 0) return;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartupError("outputFailed", `The directory ${directory} cannot be written: ${reason}.`, error);
  }
  throw new StartupError("usage", `The directory ${directory} is not empty. Give a new one.`);
}

async function storedChain(identity: DevIdentity, dataDir: string) {
  const { storedChainConfig } = await import("../../dev/chain-config.ts");
  const { slashingProtectionStore } = await import("../../dev/validators/slashing-protection.ts");
  const db = await openStoredDatabase(dataDir);
  try {
    const signed = await slashingProtectionStore(db).load();
    return { ...identity, config: storedChainConfig(identity), signed };
  } finally {
    await db.close();
  }
}

/** Creates a chain that is not stored yet. Its genesis time does not affect its genesis validators root. */
async function newChain(settings: DevKeysSettings) {
  const { toRootHex } = await import("@lodestar/utils");
  const { devChainConfig } = await import("../../dev/chain-config.ts");
  const { createDevGenesis } = await import("../../dev/genesis.ts");
  const { forks, slotSeconds, configOverrides, validators, keys, withdrawals, balances } = settings;
  const config = devChainConfig({ forks, slotSeconds, genesisTime: 0, configOverrides });
  const { state } = createDevGenesis({
    chainConfig: config,
    validatorCount: validators,
    genesisTime: 0,
    keys,
    withdrawals,
    balances,
  });
  const genesisValidatorsRoot = toRootHex(state.genesisValidatorsRoot);
  return { config, genesisValidatorsRoot, validators, keys, withdrawals, balances, signed: [] };
}
