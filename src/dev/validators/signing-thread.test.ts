import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { disableSigningThreads, enableSigningThreads } from "../../../test/support/bls/signing-threads.ts";
import { createLogger } from "../../log/pino-logger.ts";
import { LazyAggregateSignature } from "./lazy-aggregate-signature.ts";
import { SigningQueue } from "./signing-queue.ts";
import { signingRequest, signRequest } from "./signing-request.ts";
import { SigningThread, type SigningWorkerData } from "./signing-thread.ts";

const keys = [5n, 7n];
const message = (value: number) => new Uint8Array(32).fill(value);
const requests = Array.from({ length: 200 }, (_, value) => signingRequest(keys[0]!, message(value)));

/** Takes all requests that are announced, and makes no signature. */
const HOARDING = `
  import { workerData, parentPort } from "node:worker_threads";
  import { SigningQueue, CELL_COUNT } from "${new URL("./signing-queue.ts", import.meta.url)}";
  const queue = new SigningQueue(workerData.memory);
  queue.waitForMore(0);
  for (let cell = 0; cell < CELL_COUNT; cell++) queue.take(cell);
  // Keeps the thread alive.
  parentPort.on("message", () => {});
  parentPort.postMessage("taken");
`;

describe("SigningThread", () => {
  beforeAll(enableSigningThreads);
  afterAll(disableSigningThreads);
  const opened: SigningThread[] = [];
  afterEach(() => Promise.all(opened.splice(0).map((thread) => thread.close())));

  function open(code: string | URL = new URL("./signing-worker.ts", import.meta.url)) {
    const started: { worker: Worker; queue: SigningQueue }[] = [];
    const complaints: string[] = [];
    const destination = { write: (line: string) => complaints.push(line) };
    const { logger } = createLogger({ format: "text", spec: "WARN", destination });
    const startWorker = (workerData: SigningWorkerData) => {
      const source = code instanceof URL ? code : new URL(`data:text/javascript,${encodeURIComponent(code)}`);
      const worker = new Worker(source, { workerData });
      started.push({ worker, queue: new SigningQueue(workerData.memory) });
      return worker;
    };
    const thread = new SigningThread({ logger, startWorker });
    opened.push(thread);
    const askUntilStarted = () => {
      for (let index = 0; started.length === 0 && index < requests.length; index++) thread.signAhead(requests[index]!);
      expect(started.length).toBe(1);
      return started[0]!;
    };
    return { thread, started, complaints, askUntilStarted };
  }

  it("starts once there is enough work, and signs", async () => {
    const { thread, started, complaints, askUntilStarted } = open();
    for (const request of requests.slice(0, 12)) thread.signAhead(request);
    expect(started).toEqual([]);
    // The request that starts the thread is in the first cell.
    const { queue } = askUntilStarted();
    const joint = new LazyAggregateSignature(message(1), keys.slice(0, 1), thread).joinedWith(
      new LazyAggregateSignature(message(1), keys.slice(1), thread),
    );
    joint?.signAhead();
    const sum = signRequest(signingRequest(keys[0]! + keys[1]!, message(1)));
    await vi.waitFor(() => expect(queue.signature(1, 0)).toEqual(sum.toBytes(false)), { timeout: 10_000, interval: 5 });
    expect(joint?.sign().toHex()).toBe(sum.toHex());
    expect(complaints).toEqual([]);
  });

  it("signs what the thread has not begun, and does not wait long for what it has", async () => {
    const { thread, complaints, askUntilStarted } = open(HOARDING);
    const { worker, queue } = askUntilStarted();
    const isTaken = once(worker, "message");
    thread.signAhead(requests[190]!);
    await isTaken;
    for (const index of [191, 192]) thread.signAhead(requests[index]!);
    // Makes the others of the queue while it waits.
    expect(thread.sign(requests[190]!).toHex()).toBe(signRequest(requests[190]!).toHex());
    for (const [index, cell] of [2, 3].entries()) {
      expect(queue.signature(cell, 0)).toEqual(signRequest(requests[191 + index]!).toBytes(false));
    }
    thread.signAhead(requests[193]!);
    expect(thread.sign(requests[193]!).toHex()).toBe(signRequest(requests[193]!).toHex());
    expect(queue.withdraw(4)).toBe(false);
    expect(complaints).toEqual([]);
  });

  it("signs on the main thread after the thread died, and is not restarted", async () => {
    const { thread, started, complaints, askUntilStarted } = open("process.exit(3);");
    const joint = new LazyAggregateSignature(message(1), keys, thread);
    const { worker } = askUntilStarted();
    joint.signAhead();
    await once(worker, "exit");
    expect(complaints).toEqual([expect.stringContaining("Signing thread died")]);
    const alone = new LazyAggregateSignature(message(1), keys);
    expect(joint.sign().toHex()).toBe(alone.sign().toHex());
    for (const request of requests) thread.signAhead(request);
    expect(started.length).toBe(1);
  });

  it("drops requests that do not fit into the queue", async () => {
    const { thread, askUntilStarted } = open(HOARDING);
    const { worker, queue } = askUntilStarted();
    await once(worker, "message");
    for (const request of requests) thread.signAhead(request);
    expect(queue.put(requests[0]!)).toBeUndefined();
    expect(thread.sign(requests[199]!).toHex()).toBe(signRequest(requests[199]!).toHex());
  });

  it("stops silently when closed", async () => {
    const { thread, started, complaints, askUntilStarted } = open();
    const exit = once(askUntilStarted().worker, "exit");
    await thread.close();
    await exit;
    for (const request of requests) thread.signAhead(request);
    expect(thread.sign(requests[0]!).toHex()).toBe(signRequest(requests[0]!).toHex());
    expect(started.length).toBe(1);
    expect(complaints).toEqual([]);
  });
});
