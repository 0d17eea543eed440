// Entry point of a worker process. The primary sets the preset in its environment.
import { cacheModuleResolution } from "../../runtime/module-resolution.ts";
import { pinTickObjectShape } from "../../runtime/tick-object-shape.ts";
import { dispatchAll } from "../../threads/messages.ts";
import { ThreadOutbox } from "../../threads/outbox.ts";
import type { ToPrimary, ToWorker } from "./protocol.ts";

// Terminals and service managers signal every process. The primary decides when a worker stops. Without a listener,
// SIGUSR1 would open the Node.js inspector.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const) process.on(signal, () => {});
process.once("disconnect", () => process.exit());
cacheModuleResolution();
pinTickObjectShape();
// Loaded after the optimizations above.
const { WorkerRuntime } = await import("./worker-runtime.ts");
const runtime = new WorkerRuntime(
  new ThreadOutbox<ToPrimary>({ postMessage: (messages) => process.send?.(messages, undefined, undefined, () => {}) }),
);
process.on("message", (messages: ToWorker[]) => dispatchAll(runtime.handlers, messages));
