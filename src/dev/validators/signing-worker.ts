// Runs in a worker thread. Loads only the signature library, so the thread starts in milliseconds and needs no preset.
import { workerData } from "node:worker_threads";
import { CELL_COUNT, SigningQueue } from "./signing-queue.ts";
import { signRequest } from "./signing-request.ts";
import type { SigningWorkerData } from "./signing-thread.ts";

const queue = new SigningQueue((workerData as SigningWorkerData).memory);

for (let next = 0; ; ) {
  const { announced } = queue;
  for (; next !== announced; next = (next + 1) | 0) {
    const cell = next & (CELL_COUNT - 1);
    const request = queue.take(cell);
    if (request) queue.complete(cell, signRequest(request).toBytes(false));
  }
  queue.waitForMore(announced);
}
