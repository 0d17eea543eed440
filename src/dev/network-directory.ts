import { existsSync } from "node:fs";
import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ChainConfig } from "@lodestar/config";
import { configYaml } from "./config-yaml.ts";

/** File names for the deposit contract's block: those of eth-clients and older Lighthouse versions. */
const DEPOSIT_BLOCK_FILES = ["deposit_contract_block.txt", "deploy_block.txt"] as const;
/** File names for the bootnode list: those of Lighthouse and Teku, and of the eth-clients repositories. */
const RECORD_LIST_YAML = "boot_enr.yaml";
const RECORD_LIST_TEXT = "bootstrap_nodes.txt";

const WORLD_READABLE_DIRECTORY = 0o755;
const WORLD_READABLE_FILE = 0o644;

interface NetworkDescription {
  config: ChainConfig;
  /** True if this run created the chain, in which case files from an earlier chain are overwritten. */
  isNew: boolean;
  /** SSZ of the genesis state. */
  genesisState(): Promise<Uint8Array>;
}

/** Writes a chain's network directory in the layout of public networks, so that any client can join. */
export async function writeNetworkDirectory(directory: string, chain: NetworkDescription): Promise<void> {
  await mkdir(directory, { recursive: true });
  // World-readable despite the umask of the data directory: clients may run as other users.
  await chmod(directory, WORLD_READABLE_DIRECTORY);
  await writeAtomically(join(directory, "config.yaml"), configYaml(chain.config));
  const genesisFile = join(directory, "genesis.ssz");
  if (chain.isNew || !existsSync(genesisFile)) await writeAtomically(genesisFile, await chain.genesisState());
  // With 0, clients search for deposits starting at the first block.
  for (const name of DEPOSIT_BLOCK_FILES) await writeAtomically(join(directory, name), "0\n");
  // Records from an earlier run are stale.
  for (const name of [RECORD_LIST_YAML, RECORD_LIST_TEXT]) await rm(join(directory, name), { force: true });
}

/** Writes the network's bootnode records. */
export async function writeBootnodes(directory: string, records: readonly string[]): Promise<void> {
  await writeAtomically(join(directory, RECORD_LIST_YAML), records.map((record) => `- "${record}"\n`).join(""));
  await writeAtomically(join(directory, RECORD_LIST_TEXT), records.map((record) => `${record}\n`).join(""));
}

/** Replaces the file atomically by renaming a temporary file. */
async function writeAtomically(file: string, content: string | Uint8Array): Promise<void> {
  const unfinished = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(unfinished, content);
    await chmod(unfinished, WORLD_READABLE_FILE);
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}
