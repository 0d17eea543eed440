import { execFile } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { expect, it, onTestFinished } from "vitest";
import type { ThreadPort } from "./thread.ts";
import { ThreadPool } from "./thread-pool.ts";

const MODULE = new URL("./thread-pool.ts", import.meta.url).href;
/** Counts its owners and answers with the message; loops or throws on request. */
const CODE = `
  import { parentPort } from "node:worker_threads";
  import { servePool } from "${MODULE}";
  let owners = 0;
  servePool(parentPort, (port) => {
    const owner = ++owners;
    port.on("message", (message) => {
      if (message === "throw") throw new Error("failed");
      port.postMessage([owner, message]);
      while (message === "loop");
    });
  });
`;
const startWorker = () => new Worker(new URL(`data:text/javascript,${encodeURIComponent(CODE)}`));

function createPool() {
  const workers: Worker[] = [];
  const pool = new ThreadPool(() => workers[workers.push(startWorker()) - 1]!);
  onTestFinished(async () => {
    for (const worker of workers) await worker.terminate();
  });
  return { pool, workers };
}

/** Takes a thread and records its answers. */
function take(pool: ThreadPool) {
  const thread = pool.take();
  const answers: unknown[] = [];
  thread.on("message", (message) => answers.push(message));
  const ask = async (message: string) => {
    const count = answers.length;
    thread.postMessage(message);
    await expect.poll(() => answers.length).toBeGreaterThan(count);
    return answers.at(-1);
  };
  return { thread, answers, ask };
}

const ended = (thread: ThreadPort) => new Promise((resolve) => thread.on("exit", resolve));

it("passes a thread on to the next owner, which sees nothing of the last one", async () => {
  const { pool, workers } = createPool();
  const first = take(pool);
  expect(await first.ask("a")).toEqual([1, "a"]);
  const other = take(pool);
  expect(await other.ask("b")).toEqual([1, "b"]);
  first.thread.postMessage("late");
  await first.thread.terminate();
  const next = take(pool);
  first.thread.postMessage("closed");
  expect(await next.ask("c")).toEqual([2, "c"]);
  expect(first.answers.every((answer) => (answer as [number])[0] === 1)).toBe(true);
  expect(next.answers).toEqual([[2, "c"]]);
  expect(workers).toHaveLength(2);
});

it("starts the thread of the next owner early", async () => {
  const { pool, workers } = createPool();
  pool.preload();
  pool.preload();
  expect(workers).toHaveLength(1);
  expect(await take(pool).ask("a")).toEqual([1, "a"]);
  expect(workers).toHaveLength(1);
});

it("ends a thread that stays busy", async () => {
  const { pool, workers } = createPool();
  const busy = take(pool);
  await busy.ask("loop");
  const exit = once(workers[0]!, "exit");
  await busy.thread.terminate();
  await exit;
  expect(await take(pool).ask("a")).toEqual([1, "a"]);
  expect(workers).toHaveLength(2);
});

it("reports a crash to the owner and does not use the thread again", async () => {
  const { pool, workers } = createPool();
  const { thread } = take(pool);
  const errors: unknown[] = [];
  thread.on("error", (error) => errors.push(error));
  const exit = ended(thread);
  thread.postMessage("throw");
  await exit;
  expect(errors).toEqual([new Error("failed")]);
  await thread.terminate();
  pool.preload();
  expect(workers).toHaveLength(2);
  expect(await take(pool).ask("a")).toEqual([1, "a"]);
});

it("does not keep the process alive", async () => {
  const code = `
    import { Worker } from "node:worker_threads";
    import { ThreadPool } from "${MODULE}";
    const pool = new ThreadPool(() => new Worker(new URL(${JSON.stringify(`data:text/javascript,${encodeURIComponent(CODE)}`)})));
    const thread = pool.take();
    thread.on("message", async () => {
      await thread.terminate();
      console.log("left");
    });
    thread.ref();
    thread.postMessage("a");
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code]);
  expect(stdout).toBe("left\n");
});
