// Thread for signatures that serves one verifier after the other.
import { parentPort } from "node:worker_threads";
import { BLS_ERRORS } from "../../../src/bls/errors.ts";
import { doJob, type Jobs } from "../../../src/bls/jobs.ts";
import { Channel } from "../../../src/threads/channel.ts";
import { servePool } from "../../../src/threads/thread-pool.ts";

if (parentPort === null) throw new Error("This module must run in a worker thread");
servePool(
  parentPort,
  (port) =>
    new Channel(port, {
      handle: (kind, [input]) => doJob(kind as keyof Jobs, input as Jobs[keyof Jobs]["input"]),
      errors: BLS_ERRORS,
    }),
);
