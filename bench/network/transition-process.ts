/** Measures the library's state transition of a running chain's blocks, with and without signatures. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createBeaconConfig, createChainForkConfig } from "@lodestar/config";
import { deserializeSignedBlock } from "../../src/chain/blocks/block-encoding.ts";
import { loadNetworkConfig } from "../../src/node/chain-source/network-config.ts";
import { useNativeHasher } from "../../src/runtime/native-hasher.ts";
import { LibraryImport } from "../import/library-import.ts";
import type { RecordedChain } from "../import/record-chain.ts";
import { parentGone, report } from "../support/child.ts";

export interface TransitionOrder {
  /** Network directory. */
  description: string;
  restUrl: string;
  slots: number;
}

export interface TransitionTimes {
  blocks: number;
  bare: Milliseconds;
  withSignatures: Milliseconds;
}

/** Wall time and CPU time of all threads per block. */
export interface Milliseconds {
  elapsed: number;
  spent: number;
}

const FETCHED_TOGETHER = 16;

useNativeHasher();
process.on("message", (order: TransitionOrder) => void measure(order).then(report));
report({ ready: true });
await parentGone();

async function measure(order: TransitionOrder): Promise<TransitionTimes> {
  const recorded = await fetchChain(order);
  return {
    blocks: recorded.blocks.length,
    bare: take(recorded, { signatures: false }),
    withSignatures: take(recorded, { signatures: true }),
  };
}

async function fetchChain({ description, restUrl, slots }: TransitionOrder): Promise<RecordedChain> {
  const chainConfig = loadNetworkConfig({ name: "network", directory: description });
  const genesisState = readFileSync(join(description, "genesis.ssz"));
  const { genesisTime, genesisValidatorsRoot } = createChainForkConfig(chainConfig)
    .getForkTypes(0)
    .BeaconState.deserializeToViewDU(genesisState);
  const blocks: Uint8Array[] = [];
  for (let slot = 1; slot <= slots; slot += FETCHED_TOGETHER) {
    const together = Array.from({ length: Math.min(FETCHED_TOGETHER, slots - slot + 1) }, (_, index) => slot + index);
    const fetched = await Promise.all(together.map((each) => fetchBlock(restUrl, each)));
    blocks.push(...fetched.filter((block) => block !== null));
  }
  return { config: createBeaconConfig(chainConfig, genesisValidatorsRoot), genesisTime, genesisState, blocks };
}

/** Returns null for a slot without a block. */
async function fetchBlock(restUrl: string, slot: number): Promise<Uint8Array | null> {
  const response = await fetch(`${restUrl}/eth/v2/beacon/blocks/${slot}`, {
    headers: { accept: "application/octet-stream" },
  });
  if (response.status === 404) return null;
  if (!response.ok) throw new Error(`Fetching the block of slot ${slot} failed: ${await response.text()}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** Imports all blocks. Includes deserialization, as in a real sync. */
function take(recorded: RecordedChain, options: { signatures: boolean }): Milliseconds {
  const library = new LibraryImport(recorded, options);
  const count = recorded.blocks.length;
  const start = performance.now();
  const spentBefore = process.cpuUsage();
  for (const block of recorded.blocks) library.import(deserializeSignedBlock(recorded.config, block));
  const { user, system } = process.cpuUsage(spentBefore);
  return { elapsed: (performance.now() - start) / count, spent: (user + system) / 1000 / count };
}
