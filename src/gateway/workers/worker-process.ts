import cluster, { type Worker } from "node:cluster";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { ToPrimary, ToWorker } from "./protocol.ts";

/** Same extension as this file, because the compiler rewrites only imports. */
const WORKER = fileURLToPath(new URL(`./worker${extname(import.meta.url)}`, import.meta.url));

export interface WorkerProcess {
  readonly pid: number | undefined;
  postMessage(messages: readonly ToWorker[]): void;
  onMessage(listener: (messages: readonly ToPrimary[]) => void): void;
  /** Called once. */
  onExit(listener: (how: { code: number | null; signal: string | null }) => void): void;
  /** Disconnects, so that the process exits. */
  release(): void;
  kill(): void;
}

/** Forks a process that shares its listening ports with the other workers. */
export function startWorkerProcess(): WorkerProcess {
  cluster.setupPrimary({ exec: WORKER, args: [], serialization: "advanced" });
  const worker = cluster.fork();
  // Messages to a process that has just exited are lost.
  worker.on("error", () => {});
  closeConnectionsOnExit(worker);
  // A single listener for any number of workers.
  process.off("exit", killAll).on("exit", killAll);
  return {
    pid: worker.process.pid,
    postMessage: (messages) => void worker.send(messages as ToWorker[], undefined, undefined, () => {}),
    onMessage: (listener) => void worker.on("message", (messages: ToPrimary[]) => listener(messages)),
    onExit: (listener) => void worker.once("exit", (code, signal) => listener({ code, signal })),
    release: () => {
      if (worker.isConnected()) worker.process.disconnect();
    },
    kill: () => void worker.process.kill("SIGKILL"),
  };
}

/**
 * Closes connections that the worker has not accepted when it exits. This process accepts connections and hands them
 * over one by one; those of a hung worker would stay open forever (node:cluster).
 */
function closeConnectionsOnExit(worker: Worker): void {
  /** The last connection handed over from each port. */
  const handedOver = new Map<unknown, { close(): void }>();
  const send = worker.process.send.bind(worker.process) as (...args: unknown[]) => boolean;
  worker.process.send = (...args: unknown[]) => {
    const [message, connection] = args as [{ key?: string }, { close(): void } | undefined];
    if (connection) handedOver.set(message.key, connection);
    return send(...args);
  };
  // Closing an accepted connection has no effect here.
  worker.once("exit", () => {
    for (const connection of handedOver.values()) connection.close();
  });
}

/** A hung worker would not notice the disconnect. */
function killAll(): void {
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill("SIGKILL");
}
