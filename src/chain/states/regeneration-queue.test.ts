import { expect, it } from "vitest";
import { RegenerationQueue, RegenerationQueueFullError } from "./regeneration-queue.ts";

const idle = () => Promise.resolve();

/** Records when tasks start and end. The test controls when they end. */
function recorder() {
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  const make = (name: string) => () => {
    log.push(`${name} begins`);
    return new Promise<string>((resolve) => {
      ends.set(name, () => {
        log.push(`${name} ends`);
        resolve(name);
      });
    });
  };
  return { log, make, end: (name: string) => ends.get(name)?.() };
}

it("regenerates one state at a time, blocks first", async () => {
  const { log, make, end } = recorder();
  const queue = new RegenerationQueue(idle);
  const first = queue.run("vote", make("first vote"));
  await expect.poll(() => log).toContain("first vote begins");
  const second = queue.run("vote", make("second vote"));
  const block = queue.run("block", make("block"));
  end("first vote");
  expect(await first).toBe("first vote");
  await expect.poll(() => log).toContain("block begins");
  end("block");
  await block;
  await expect.poll(() => log).toContain("second vote begins");
  end("second vote");
  await second;
  expect(log).toEqual([
    "first vote begins",
    "first vote ends",
    "block begins",
    "block ends",
    "second vote begins",
    "second vote ends",
  ]);
});

it("starts nothing while the chain is busy", async () => {
  const { log, make, end } = recorder();
  let chainEnds = () => {};
  const chainWork = new Promise<void>((resolve) => {
    chainEnds = resolve;
  });
  const queue = new RegenerationQueue(() => chainWork);
  const state = queue.run("vote", make("vote"));
  await new Promise(setImmediate);
  expect(log).toEqual([]);
  chainEnds();
  await expect.poll(() => log).toEqual(["vote begins"]);
  end("vote");
  await state;
});

it("rejects requests above the limit, with separate limits for blocks and votes", async () => {
  const { log, make, end } = recorder();
  const queue = new RegenerationQueue(idle, 1);
  const running = queue.run("vote", make("running"));
  await expect.poll(() => log).toContain("running begins");
  const waiting = queue.run("vote", async () => "waited");
  await expect(queue.run("vote", async () => "refused")).rejects.toThrow(RegenerationQueueFullError);
  const block = queue.run("block", async () => "block");
  end("running");
  expect(await Promise.all([running, waiting, block])).toEqual(["running", "waited", "block"]);
});

it("a failed regeneration rejects only its own caller", async () => {
  const queue = new RegenerationQueue(idle);
  const failing = queue.run("vote", () => Promise.reject(new Error("gone")));
  const other = queue.run("vote", async () => "other");
  await expect(failing).rejects.toThrow("gone");
  expect(await other).toBe("other");
});
