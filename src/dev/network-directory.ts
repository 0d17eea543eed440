import { existsSync } from "node:fs";
import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ChainConfig } from "@lodestar/config";
import { configYaml } from "./config-yaml.ts";

/** The names under which clients look for the block of the deposit contract: eth-clients, and older Lighthouse. */
const DEPOSIT_BLOCK_FILES = ["deposit_contract_block.txt", "deploy_block.txt"] as const;
/** Lighthouse's and Teku's name of the list, and that of the eth-clients repositories. */
const RECORD_LIST_YAML = "boot_enr.yaml";
const RECORD_LIST_TEXT = "bootstrap_nodes.txt";

const FOR_ALL_DIRECTORY = 0o755;
const FOR_ALL_FILE = 0o644;

interface DescribedChain {
  config: ChainConfig;
  /** Of a chain that was made just now, what an earlier one left behind is written over. */
  isNew: boolean;
  /** SSZ of the genesis state. */
  genesisState(): Promise<Uint8Array>;
}

/** Describes a chain the way public networks are described, so that nodes of any client can join it. */
export async function writeNetworkDirectory(directory: string, chain: DescribedChain): Promise<void> {
  await mkdir(directory, { recursive: true });
  // Clients of other users read it, whatever the umask is that keeps the rest of the data to its owner.
  await chmod(directory, FOR_ALL_DIRECTORY);
  await writeWhole(join(directory, "config.yaml"), configYaml(chain.config));
  const genesisFile = join(directory, "genesis.ssz");
  if (chain.isNew || !existsSync(genesisFile)) await writeWhole(genesisFile, await chain.genesisState());
  // Whatever block the deposit contract came with, there are no deposits to be looked for before the first.
  for (const name of DEPOSIT_BLOCK_FILES) await writeWhole(join(directory, name), "0\n");
  // Those of an earlier run lead to nobody.
  for (const name of [RECORD_LIST_YAML, RECORD_LIST_TEXT]) await rm(join(directory, name), { force: true });
}

/** Names the nodes from which others find the network. */
export async function writeBootnodes(directory: string, records: readonly string[]): Promise<void> {
  await writeWhole(join(directory, RECORD_LIST_YAML), records.map((record) => `- "${record}"\n`).join(""));
  await writeWhole(join(directory, RECORD_LIST_TEXT), records.map((record) => `${record}\n`).join(""));
}

/** Whoever reads the file finds the old content or the new one, never a part. */
async function writeWhole(file: string, content: string | Uint8Array): Promise<void> {
  const unfinished = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(unfinished, content);
    await chmod(unfinished, FOR_ALL_FILE);
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}
