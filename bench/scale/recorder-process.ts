/** Builds blocks on a state ahead of time, and writes each to a file. */
import { readFileSync, writeFileSync } from "node:fs";
import { useNativeHasher } from "../../src/runtime/native-hasher.ts";
import { parentGone, report } from "../support/child.ts";
import { blockFile, type Recorded, type RecordOrder } from "./recorded-blocks.ts";
import { RecordedChain } from "./recorded-chain.ts";
import { publicKeys } from "./validator-keys.ts";

useNativeHasher();
process.on("message", ({ validators, stateFile, keysFile, slots, slotSeconds, directory }: RecordOrder) => {
  const chain = new RecordedChain(readFileSync(stateFile), publicKeys(keysFile, validators), slotSeconds);
  const slotsMs = slots.map((slot) => {
    const block = chain.next(slot);
    writeFileSync(blockFile(directory, slot), block.contents);
    return block.slotsMs;
  });
  const recorded: Recorded = { slotsMs };
  report(recorded);
});
report({ ready: true });
await parentGone();
