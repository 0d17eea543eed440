import cluster, { type Worker } from "node:cluster";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { ToPrimary, ToWorker } from "./protocol.ts";

/** Compiled as this file is, or not: the compiler does not rewrite paths that are no imports. */
const WORKER = fileURLToPath(new URL(`./worker${extname(import.meta.url)}`, import.meta.url));

/** The process of a worker, as the primary one sees it. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  postMessage(messages: readonly ToWorker[]): void;
  onMessage(listener: (messages: readonly ToPrimary[]) => void): void;
  /** Calls back once, with what is known of how it ended. */
  onExit(listener: (how: { code: number | null; signal: string | null }) => void): void;
  /** Lets it end. */
  release(): void;
  /** Ends it at once. */
  kill(): void;
}

/** Starts a process that shares the ports it listens on with the others. */
export function startWorkerProcess(): WorkerProcess {
  cluster.setupPrimary({ exec: WORKER, args: [], serialization: "advanced" });
  const worker = cluster.fork();
  // What is sent to a process that has just ended is lost with it.
  worker.on("error", () => {});
  endConnectionsWith(worker);
  // One listener for all of them, however many there are.
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
 * This process accepts connections and gives them to workers, to each the next one when it has taken the one before. What a worker
 * has not taken when it ends, because it was stuck, node:cluster would keep open for ever, and nobody would answer.
 */
function endConnectionsWith(worker: Worker): void {
  /** The last one that it was given from each port. */
  const given = new Map<unknown, { close(): void }>();
  const send = worker.process.send.bind(worker.process) as (...args: unknown[]) => boolean;
  worker.process.send = (...args: unknown[]) => {
    const [message, connection] = args as [{ key?: string }, { close(): void } | undefined];
    if (connection) given.set(message.key, connection);
    return send(...args);
  };
  // To close one that was taken, and is closed here already, does nothing.
  worker.once("exit", () => {
    for (const connection of given.values()) connection.close();
  });
}

/** One that is stuck would not notice that it is alone. */
function killAll(): void {
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill("SIGKILL");
}
