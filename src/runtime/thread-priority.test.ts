import { readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";

const priorities = () =>
  readdirSync("/proc/self/task").map((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, "utf8");
    // Field 2 is the name in parentheses, which may contain spaces. Field 19 is the nice value.
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
  });

it("lowers the priority of the calling thread only", async (context) => {
  context.skip(process.platform !== "linux", "thread priorities are lowered on Linux only");
  const module = new URL("./thread-priority.ts", import.meta.url);
  const source = `import(${JSON.stringify(module)}).then(({ lowerThreadPriority }) => {
    lowerThreadPriority();
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
