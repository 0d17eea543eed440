import { type EventEmitter, once } from "node:events";
import type { Timers } from "../async/timers.ts";
import type { Logger } from "../log/logger.ts";
import { DEFAULT_SERVER_LIMITS } from "../node/servers/server-limits.ts";
import { EXIT_CODES } from "./exit.ts";
import { asStartupError } from "./start/start-errors.ts";

/** A started node. */
export interface RunningNode {
  /** Resolves when the node has stopped, and rejects when it has failed. */
  readonly stopped: Promise<void>;
  /** Additional time allowed for stopping, beyond the usual limit. */
  readonly drainMillis?: number;
  /** Reloads the config file. */
  reload?(): void;
  stop(): Promise<void>;
}

/** Signals that stop the node. SIGHUP is sent when the terminal is closed, or to reload the config file. */
const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR2"] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

/** The part of `process` needed to run a node. */
export type ProcessEvents = Pick<EventEmitter, "on" | "off">;

interface RunDeps {
  logger: Logger;
  events: ProcessEvents;
  /**
   * True if SIGHUP reloads the config file; a SIGHUP during startup takes effect afterwards. Otherwise, SIGHUP stops
   * the node.
   */
  reloadsOnHangup: boolean;
  /** Exits, but waits for worker threads that are running native code. */
  exitNow(code: number): void;
  /** Kills the process without waiting. */
  endBy(signal: StopSignal): void;
  timers: Pick<Timers, "now" | "every">;
}

/**
 * Ignores signals repeated within this time. Ctrl-C also reaches npm and the launcher for older Node versions, which
 * forward it to this process.
 */
const SIGNAL_ECHO_MS = 100;

/**
 * Time limit for stopping, below the kill timeout of service managers. Clients can delay closing the servers for up to
 * half of this time. The other half is reserved for closing the rest of the node.
 */
const STOP_LIMIT_MS = 2 * DEFAULT_SERVER_LIMITS.closeMillis;

/** Interval of the timer that keeps the process alive. */
const KEEP_ALIVE_MS = 3_600_000;

/**
 * Starts the node and waits until it stops. The first signal stops the node gracefully or aborts its startup. A second
 * signal, or exceeding the time limit for stopping, exits immediately. A `StartError` is thrown to the caller.
 */
export async function runUntilStopped(
  start: (stopping: AbortSignal) => Promise<RunningNode>,
  { logger, events, reloadsOnHangup, exitNow, endBy, timers }: RunDeps,
): Promise<number> {
  const stopping = new AbortController();
  const stopRequested = once(stopping.signal, "abort");
  let firstSignalAt = 0;
  let endWaiting = () => {};
  let running: RunningNode | undefined;
  let isReloadPending = false;

  const onSignal = (signal: StopSignal) => {
    if (signal === "SIGHUP" && reloadsOnHangup && !stopping.signal.aborted) {
      if (running === undefined) isReloadPending = true;
      else running.reload?.();
      return;
    }
    if (!stopping.signal.aborted) {
      firstSignalAt = timers.now();
      logger.notice("Stopping; a second signal exits at once", { signal });
      const limit = STOP_LIMIT_MS + (running?.drainMillis ?? 0);
      endWaiting = timers.every(limit, () => {
        logger.error("Node did not stop in time, exiting", { limitSeconds: limit / 1000 });
        exitNow(EXIT_CODES.stopTimedOut);
      });
      stopping.abort(new Error("The node was stopped during startup."));
    } else if (timers.now() - firstSignalAt >= SIGNAL_ECHO_MS) {
      logger.warn("Exiting without waiting for the node to stop", { signal });
      endBy(signal);
    }
  };
  const onUnexpected = (error: unknown) => {
    logger.fatal("Unexpected error, exiting", { error });
    exitNow(EXIT_CODES.internal);
  };

  // Keeps the process alive while the node waits on unreferenced timers, such as the one for its execution client.
  const stopKeepAlive = timers.every(KEEP_ALIVE_MS, () => {});
  for (const signal of STOP_SIGNALS) events.on(signal, onSignal);
  events.on("uncaughtException", onUnexpected);
  events.on("unhandledRejection", onUnexpected);
  try {
    const node = await start(stopping.signal);
    running = node;
    if (isReloadPending) node.reload?.();
    await Promise.race([node.stopped, stopRequested]);
    if (stopping.signal.aborted) await node.stop();
    await node.stopped;
    logger.info("Stopped");
    return EXIT_CODES.ok;
  } catch (error) {
    if (stopping.signal.aborted && !running) {
      logger.info("Stopped during startup");
      logger.debug("Startup aborted", { error });
      return EXIT_CODES.ok;
    }
    const startupError = asStartupError(error);
    if (startupError) throw startupError;
    logger.fatal("Unexpected error, exiting", { error });
    return EXIT_CODES.internal;
  } finally {
    stopKeepAlive();
    endWaiting();
    for (const signal of STOP_SIGNALS) events.off(signal, onSignal);
    events.off("uncaughtException", onUnexpected);
    events.off("unhandledRejection", onUnexpected);
  }
}
