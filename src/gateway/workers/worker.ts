// The process of a worker, which the primary one starts with the preset in its environment.
import { cacheModuleResolution } from "../../runtime/module-resolution.ts";
import { pinTickObjectShape } from "../../runtime/tick-object-shape.ts";
import { ThreadOutbox } from "../../server/thread/outbox.ts";
import { handle } from "../../server/thread/protocol.ts";
import type { ToPrimary, ToWorker } from "./protocol.ts";

// A terminal or a service manager tells every process to stop. It is the primary one that says when it is time.
// Without a listener SIGUSR1 opens Node's inspector.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const) process.on(signal, () => {});
process.once("disconnect", () => process.exit());
cacheModuleResolution();
pinTickObjectShape();
// All that serves is loaded behind that.
const { WorkerServing } = await import("./worker-serving.ts");
const serving = new WorkerServing(
  new ThreadOutbox<ToPrimary>({ postMessage: (messages) => process.send?.(messages, undefined, undefined, () => {}) }),
);
process.on("message", (messages: ToWorker[]) => handle(serving.handlers, messages));
