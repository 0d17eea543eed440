import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { disableSigningThreads, enableSigningThreads } from "../../../test/support/bls/signing-threads.ts";
import { createLogger } from "../../log/pino-logger.ts";
import { LazyAggregateSignature } from "./lazy-aggregate-signature.ts";
import { type SigningRequest, signingRequest, signRequest } from "./signing-request.ts";
import { SigningThread, type SigningWorkerData } from "./signing-thread.ts";

const keys = [5n, 7n];
const message = (value: number) => new Uint8Array(32).fill(value);
const requests = Array.from({ length: 200 }, (_, value) => signingRequest(keys[0]!, message(value)));

describe("SigningThread", () => {
  beforeAll(enableSigningThreads);
  afterAll(disableSigningThreads);
  const opened: SigningThread[] = [];
  afterEach(() => Promise.all(opened.splice(0).map((thread) => thread.close())));

  function open(code: string | URL = new URL("./signing-worker.ts", import.meta.url)) {
    const started: Worker[] = [];
    const complaints: string[] = [];
    const destination = { write: (line: string) => complaints.push(line) };
    const { logger } = createLogger({ format: "text", spec: "WARN", destination });
    const startWorker = (workerData: SigningWorkerData) => {
      const source = code instanceof URL ? code : new URL(`data:text/javascript,${encodeURIComponent(code)}`);
      const worker = new Worker(source, { workerData, transferList: [workerData.port] });
      started.push(worker);
      return worker;
    };
    const thread = new SigningThread({ logger, startWorker });
    opened.push(thread);
    const askUntilStarted = () => {
      for (let index = 0; started.length === 0 && index < requests.length; index++) thread.signAhead(requests[index]!);
      expect(started.length).toBe(1);
    };
    return { thread, started, complaints, askUntilStarted };
  }

  const untilSigned = (thread: SigningThread, request: SigningRequest) =>
    vi.waitFor(() => expect(thread.signedAhead(request)?.toHex()).toBe(signRequest(request).toHex()), {
      timeout: 10_000,
      interval: 5,
    });

  it("starts once there is enough work, and signs", async () => {
    const { thread, started, complaints, askUntilStarted } = open();
    for (const request of requests.slice(0, 12)) thread.signAhead(request);
    expect(started).toEqual([]);
    askUntilStarted();
    const joint = new LazyAggregateSignature(message(1), keys.slice(0, 1), thread).joinedWith(
      new LazyAggregateSignature(message(1), keys.slice(1), thread),
    );
    joint?.signAhead();
    const sum = signingRequest(keys[0]! + keys[1]!, message(1));
    await untilSigned(thread, sum);
    expect(joint?.sign().toHex()).toBe(signRequest(sum).toHex());
    expect(thread.signedAhead(requests[1]!)).toBeUndefined();
    expect(complaints).toEqual([]);
  });

  it("falls back to the main thread after the thread died, and is not restarted", async () => {
    const { thread, started, complaints, askUntilStarted } = open(
      `import { workerData } from "node:worker_threads"; workerData.port.on("message", () => process.exit(3));`,
    );
    const joint = new LazyAggregateSignature(message(1), keys, thread);
    askUntilStarted();
    joint.signAhead();
    await once(started[0]!, "exit");
    expect(complaints).toEqual([expect.stringContaining("Signing thread died")]);
    const alone = new LazyAggregateSignature(message(1), keys);
    expect(joint.sign().toHex()).toBe(alone.sign().toHex());
    for (const request of requests) thread.signAhead(request);
    expect(started.length).toBe(1);
  });

  it("limits pending requests", async () => {
    const { thread, started, askUntilStarted } = open(
      `import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
       parentPort.on("message", () => {
         let asked = 0;
         for (let batch; (batch = receiveMessageOnPort(workerData.port)); ) asked += batch.message.length;
         parentPort.postMessage(asked);
       });`,
    );
    askUntilStarted();
    for (const request of requests) thread.signAhead(request);
    // Requests made in one turn are sent as a batch in a microtask.
    await Promise.resolve();
    started[0]!.postMessage("how many?");
    const [count] = await once(started[0]!, "message");
    expect(count).toBeLessThan(requests.length / 2);
    expect(count).toBeGreaterThan(0);
  });

  it("stops silently when closed", async () => {
    const { thread, started, complaints, askUntilStarted } = open();
    askUntilStarted();
    const exit = once(started[0]!, "exit");
    await thread.close();
    await exit;
    for (const request of requests) thread.signAhead(request);
    expect(thread.signedAhead(requests[0]!)).toBeUndefined();
    expect(started.length).toBe(1);
    expect(complaints).toEqual([]);
  });
});
