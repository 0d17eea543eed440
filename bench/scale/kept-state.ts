import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Child } from "../support/child.ts";
import { setGenesisTime } from "./state.ts";

/** Cache directory for states. `BENCH_DIR` overrides it. */
const DIRECTORY = join(process.env.BENCH_DIR ?? join(import.meta.dirname, "../../.bench"), "scale");

/** State that is built once and reused by later runs. */
export interface KeptState {
  validators: number;
  stateFile: string;
  keysFile: string;
  /** Network directory. */
  network: string;
}

/** Returns the cached state, or builds it in a separate process, which frees its memory. */
export async function keptState(validators: number): Promise<KeptState> {
  const directory = join(DIRECTORY, String(validators));
  const network = join(directory, "network");
  const kept = { validators, stateFile: join(directory, "state.ssz"), keysFile: join(directory, "keys.bin"), network };
  if (existsSync(kept.stateFile)) return kept;
  mkdirSync(network, { recursive: true });
  const { child } = await Child.start("builder-process", import.meta.url, "mainnet");
  try {
    const { seconds } = await child.ask<{ seconds: number }>(kept);
    console.error(`Built a state of ${validators} validators in ${seconds.toFixed(0)} s: ${kept.stateFile}`);
  } finally {
    await child.end();
  }
  return kept;
}

/** Copies the state with another genesis time. Returns the path of the copy. */
export function copyWithGenesisTime({ stateFile }: KeptState, genesisTime: number, directory: string): string {
  const bytes = readFileSync(stateFile);
  setGenesisTime(bytes, genesisTime);
  const file = join(directory, "state.ssz");
  writeFileSync(file, bytes);
  return file;
}
