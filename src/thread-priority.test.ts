import { readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";

const priorities = () =>
  readdirSync("/proc/self/task").map((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, "utf8");
    // The second field is the name in parentheses, which may itself hold spaces; the priority is field 19.
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
  });

it("lowers the priority of a thread, and of no other", async (context) => {
  context.skip(process.platform !== "linux", "thread priorities are lowered on Linux only");
  const module = new URL("./thread-priority.ts", import.meta.url);
  const source = `import(${JSON.stringify(module)}).then(({ giveWayToOtherThreads }) => {
    giveWayToOtherThreads();
    require("node:worker_threads").parentPort.once("message", () => {}).postMessage("done");
  })`;
  const before = priorities();
  const own = getPriority();
  const worker = new Worker(source, { eval: true });
  await new Promise((resolve) => worker.once("message", resolve));
  const lowered = priorities().filter((priority) => priority > own);
  const loweredBefore = before.filter((priority) => priority > own);
  expect(lowered).toEqual([...loweredBefore, Math.min(19, own + 10)]);
  expect(getPriority()).toBe(own);
  await worker.terminate();
});
