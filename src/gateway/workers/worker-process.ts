import cluster from "node:cluster";
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
  const kill = () => void worker.process.kill("SIGKILL");
  // One that is stuck would not notice that it is alone.
  process.once("exit", kill);
  worker.once("exit", () => process.off("exit", kill));
  return {
    pid: worker.process.pid,
    postMessage: (messages) => void worker.send(messages as ToWorker[], undefined, undefined, () => {}),
    onMessage: (listener) => void worker.on("message", (messages: ToPrimary[]) => listener(messages)),
    onExit: (listener) => void worker.once("exit", (code, signal) => listener({ code, signal })),
    release: () => {
      if (worker.isConnected()) worker.process.disconnect();
    },
    kill,
  };
}
