import { expect, it } from "vitest";
import { SerialQueue, SerialQueues } from "./serial-queue.ts";

it("starts a task after the previous one has ended", async () => {
  const queue = new SerialQueue();
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = queue.run(async () => {
    log.push("first begins");
    await gate.promise;
    log.push("first ends");
    return 1;
  });
  const second = queue.run(() => {
    log.push("second");
    return 2;
  });
  gate.resolve();

  expect(await Promise.all([first, second])).toEqual([1, 2]);
  expect(log).toEqual(["first begins", "first ends", "second"]);
});

it("a failed task rejects only its own promise", async () => {
  const queue = new SerialQueue();
  const failing = queue.run(() => Promise.reject(new Error("no")));
  const throwing = queue.run(() => {
    throw new Error("never");
  });
  const last = queue.run(() => "done");

  await expect(failing).rejects.toThrow("no");
  await expect(throwing).rejects.toThrow("never");
  await expect(last).resolves.toBe("done");
});

it("idle waits for all queued tasks, including failed ones", async () => {
  const queue = new SerialQueue();
  await queue.idle();
  const gate = Promise.withResolvers<void>();
  const log: string[] = [];
  const failing = queue.run(async () => {
    await gate.promise;
    log.push("task");
    throw new Error("no");
  });
  const idle = queue.idle().then(() => log.push("idle"));
  const caught = expect(failing).rejects.toThrow("no");
  gate.resolve();

  await Promise.all([idle, caught]);
  expect(log).toEqual(["task", "idle"]);
});

it("serializes tasks per key, not across keys", async () => {
  const queues = new SerialQueues();
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = queues.run("a", () => gate.promise.then(() => log.push("first of a")));
  const second = queues.run("a", () => log.push("second of a"));
  await queues.run("b", () => log.push("b"));
  gate.resolve();
  await Promise.all([first, second]);

  expect(log).toEqual(["b", "first of a", "second of a"]);
  await expect(queues.run("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await queues.run("a", () => "done")).toBe("done");
});
