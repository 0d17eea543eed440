import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import type { ChainTags } from "./block-id.ts";
import { SharedTags } from "./shared-tags.ts";

const hash = (byte: number) => `0x${byte.toString(16).padStart(2, "0").repeat(32)}`;
const tagsOf = (byte: number): ChainTags => ({ latest: hash(byte), safe: hash(byte), finalized: hash(byte) });

it("shows tags to all users of the memory, with the timestamp of the next block if there is one", () => {
  const written = new SharedTags();
  const read = new SharedTags(written.memory);
  const tags = { latest: hash(1), safe: hash(2), finalized: hash(3) };
  written.set(tags);
  expect(read.get()).toEqual(tags);
  expect(read.get()).toBe(read.get());
  written.set({ ...tags, nextTimestamp: 1_700_000_012 });
  expect(read.get()).toEqual({ ...tags, nextTimestamp: 1_700_000_012 });
  written.set(tags);
  expect(read.get()).toEqual(tags);
});

it("never mixes the tags of two versions", async () => {
  const tags = new SharedTags();
  tags.set(tagsOf(0));
  const writing = `
    const { parentPort, workerData } = require("node:worker_threads");
    import(workerData.module).then(({ SharedTags }) => {
      const tags = new SharedTags(workerData.memory);
      const all = workerData.all;
      parentPort.postMessage("started");
      for (let count = 0; count < 20_000; count++) tags.set(all[count % all.length]);
      parentPort.postMessage("ended");
    });
  `;
  const all = Array.from({ length: 7 }, (_, byte) => tagsOf(byte));
  const module = new URL("./shared-tags.ts", import.meta.url).href;
  const worker = new Worker(writing, { eval: true, workerData: { module, memory: tags.memory, all } });
  await once(worker, "message");
  let isEnded = false;
  worker.once("message", () => {
    isEnded = true;
  });
  while (!isEnded) {
    for (let count = 0; count < 1000; count++) {
      const { latest, safe, finalized } = tags.get();
      if (safe !== latest || finalized !== latest) expect([safe, finalized]).toEqual([latest, latest]);
    }
    await new Promise(setImmediate);
  }
  await worker.terminate();
});
