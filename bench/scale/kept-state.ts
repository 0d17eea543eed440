import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Child } from "../support/child.ts";
import { setGenesisTime } from "./state.ts";

/** Where states are kept for the next time; `BENCH_DIR` puts it elsewhere. */
const DIRECTORY = join(process.env.BENCH_DIR ?? join(import.meta.dirname, "../../.bench"), "scale");

/** A state that was built once, in whichever run. */
export interface KeptState {
  validators: number;
  stateFile: string;
  keysFile: string;
  /** The directory that describes its network. */
  network: string;
}

/** Builds what is not there yet, in a process of its own, whose memory is free afterwards. */
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

/** A copy of the state whose chain began at that time. Returns the path of the copy. */
export function placedInTime({ stateFile }: KeptState, genesisTime: number, directory: string): string {
  const bytes = readFileSync(stateFile);
  setGenesisTime(bytes, genesisTime);
  const file = join(directory, "state.ssz");
  writeFileSync(file, bytes);
  return file;
}
