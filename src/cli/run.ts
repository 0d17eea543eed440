import { type EventEmitter, once } from "node:events";
import type { Timers } from "../async/timers.ts";
import type { Logger } from "../log/logger.ts";
import { DEFAULT_SERVER_LIMITS } from "../node/servers/server-limits.ts";
import { EXIT_CODES } from "./exit.ts";
import { asStartupError } from "./start/start-errors.ts";

/** A node that has started. */
export interface RunningNode {
  /** Settles when the node has come to its end, by `stop` or by itself; rejects when it failed. */
  readonly stopped: Promise<void>;
  /** How long a stop may take beyond the time that every node has for it; none unless given. */
  readonly drainMillis?: number;
  stop(): Promise<void>;
}

/** SIGHUP comes when the terminal of the process is closed. SIGUSR2 would end the process at once. */
const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR2"] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

/** The part of `process` that running a node needs. */
export type ProcessEvents = Pick<EventEmitter, "on" | "off">;

interface RunSurroundings {
  logger: Logger;
  events: ProcessEvents;
  /** Ends the process without waiting for anything but its threads, in which there may be native code that takes its time. */
  exitNow(code: number): void;
  /** Ends it without waiting even for these. */
  endBy(signal: StopSignal): void;
  timers: Pick<Timers, "now" | "every">;
}

/**
 * One Ctrl-C arrives several times when npm or the launcher for older Node versions stands in between: the terminal signals
 * them all, and each passes the signal on. What comes this soon after the first is taken for the same wish.
 */
const SIGNAL_ECHO_MS = 100;

/**
 * Whoever stops a node, such as systemd or a container engine, kills it sooner or later; until then it may end by itself. Clients can
 * hold off the end of the servers, so that as much time again is left for all that ends behind them.
 */
const STOP_LIMIT_MS = 2 * DEFAULT_SERVER_LIMITS.closeMillis;

/** Far longer than anything that is waited for. */
const HOLD_MS = 3_600_000;

/**
 * Starts the node and waits for its end. The first signal stops it in good order, or ends its start, and the next one ends
 * the process at once, as does a stop that takes too long. A `StartupError` is the caller's to report.
 */
export async function runUntilStopped(
  start: (stopping: AbortSignal) => Promise<RunningNode>,
  { logger, events, exitNow, endBy, timers }: RunSurroundings,
): Promise<number> {
  const stopping = new AbortController();
  const stopRequested = once(stopping.signal, "abort");
  let firstSignalAt = 0;
  let endWaiting = () => {};
  let running: RunningNode | undefined;

  const onSignal = (signal: StopSignal) => {
    if (!stopping.signal.aborted) {
      firstSignalAt = timers.now();
      logger.notice("Stopping; a second signal exits at once", { signal });
      const limit = STOP_LIMIT_MS + (running?.drainMillis ?? 0);
      endWaiting = timers.every(limit, () => {
        logger.error("The node did not stop in time; the process ends all the same", { seconds: limit / 1000 });
        exitNow(EXIT_CODES.stopTimedOut);
      });
      stopping.abort(new Error("The node was stopped before it had started."));
    } else if (timers.now() - firstSignalAt >= SIGNAL_ECHO_MS) {
      logger.warn("Exiting without waiting for the node to stop", { signal });
      endBy(signal);
    }
  };
  const onUnexpected = (error: unknown) => {
    logger.fatal("An unexpected error ends the process", { error });
    exitNow(EXIT_CODES.internal);
  };

  // A node may wait for something that does not keep Node running, such as an execution client that is to come back.
  const letGo = timers.every(HOLD_MS, () => {});
  for (const signal of STOP_SIGNALS) events.on(signal, onSignal);
  events.on("uncaughtException", onUnexpected);
  events.on("unhandledRejection", onUnexpected);
  try {
    const node = await start(stopping.signal);
    running = node;
    await Promise.race([node.stopped, stopRequested]);
    if (stopping.signal.aborted) await node.stop();
    await node.stopped;
    logger.info("Stopped");
    return EXIT_CODES.ok;
  } catch (error) {
    if (stopping.signal.aborted && !running) {
      logger.info("Stopped before the start was over");
      logger.debug("The start ended", { error });
      return EXIT_CODES.ok;
    }
    const mendable = asStartupError(error);
    if (mendable) throw mendable;
    logger.fatal("An unexpected error ends the process", { error });
    return EXIT_CODES.internal;
  } finally {
    letGo();
    endWaiting();
    for (const signal of STOP_SIGNALS) events.off(signal, onSignal);
    events.off("uncaughtException", onUnexpected);
    events.off("unhandledRejection", onUnexpected);
  }
}
