import { EventEmitter } from "node:events";
import { expect, it } from "vitest";
import { Thread } from "./thread.ts";

/** Worker thread whose answers come from the test. */
class FakeWorker extends EventEmitter {
  isReferenced = true;
  isTerminated = false;

  postMessage(): void {}

  ref(): void {
    this.isReferenced = true;
  }

  unref(): void {
    this.isReferenced = false;
  }

  async terminate(): Promise<void> {
    this.isTerminated = true;
    this.emit("exit", 1);
  }
}

function start() {
  const worker = new FakeWorker();
  const deaths: unknown[] = [];
  const thread = new Thread(worker, { onDeath: (_, error) => deaths.push(error) });
  return { worker, thread, deaths };
}

it("keeps the process alive only while calls are pending", async () => {
  const { worker, thread } = start();
  expect(worker.isReferenced).toBe(false);
  const calls = [thread.channel.call("a", []), thread.channel.call("b", [])];
  expect([worker.isReferenced, thread.channel.pending]).toEqual([true, 2]);
  worker.emit("message", [["result", 2, "two"]]);
  expect(worker.isReferenced).toBe(true);
  worker.emit("message", [["result", 1, "one"]]);
  expect([worker.isReferenced, thread.channel.pending]).toEqual([false, 0]);
  expect(await Promise.all(calls)).toEqual(["one", "two"]);
});

it("reports its death once, with the error of a crash", () => {
  const crashed = start();
  const error = new Error("no memory");
  crashed.worker.emit("error", error);
  crashed.worker.emit("exit", 1);
  expect(crashed.deaths).toEqual([error]);
  const exited = start();
  exited.worker.emit("exit", 3);
  expect(exited.deaths).toEqual([new Error("The thread ended with code 3.")]);
});

it("does not report an end that was asked for, which fails all calls", async () => {
  const { worker, thread, deaths } = start();
  const pending = expect(thread.channel.call("a", [])).rejects.toThrow("enough");
  await thread.end(new Error("enough"));
  await pending;
  await expect(thread.channel.call("b", [])).rejects.toThrow("enough");
  expect([worker.isTerminated, worker.isReferenced, deaths]).toEqual([true, false, []]);
});
