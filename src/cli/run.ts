import type { EventEmitter } from "node:events";
import { constants } from "node:os";
import type { Logger } from "../log/logger.ts";
import { EXIT_CODES } from "./exit.ts";
import { asStartupError } from "./start/start-errors.ts";

/** A node that has started. */
export interface RunningNode {
  /** Settles when the node has come to its end, by `stop` or by itself; rejects when it failed. */
  readonly stopped: Promise<void>;
  stop(): Promise<void>;
}

const STOP_SIGNALS = ["SIGINT", "SIGTERM"] as const;
type StopSignal = (typeof STOP_SIGNALS)[number];

/** The part of `process` that running a node needs. */
export type ProcessEvents = Pick<EventEmitter, "on" | "off">;

interface RunSurroundings {
  logger: Logger;
  events: ProcessEvents;
  /** Ends the process without waiting for anything. */
  exitNow(code: number): void;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
}

/**
 * One Ctrl-C arrives several times when npm or the launcher for older Node versions stands in between: the terminal signals
 * them all, and each passes the signal on. What comes this soon after the first is taken for the same wish.
 */
const SIGNAL_ECHO_MS = 100;

/**
 * Starts the node and waits for its end. The first signal stops it in good order, the next one ends the process at once.
 * A `StartupError` is the caller's to report.
 */
export async function runUntilStopped(
  start: () => Promise<RunningNode>,
  { logger, events, exitNow, now }: RunSurroundings,
): Promise<number> {
  const stopRequested = Promise.withResolvers<void>();
  let firstSignalAt: number | undefined;

  const onSignal = (signal: StopSignal) => {
    if (firstSignalAt === undefined) {
      firstSignalAt = now();
      logger.notice("Stopping; a second signal exits at once", { signal });
      stopRequested.resolve();
    } else if (now() - firstSignalAt >= SIGNAL_ECHO_MS) {
      logger.warn("Exiting without waiting for the node to stop", { signal });
      exitNow(128 + constants.signals[signal]);
    }
  };
  const onUnexpected = (error: unknown) => {
    logger.fatal("An unexpected error ends the process", { error });
    exitNow(EXIT_CODES.internal);
  };

  for (const signal of STOP_SIGNALS) events.on(signal, onSignal);
  events.on("uncaughtException", onUnexpected);
  events.on("unhandledRejection", onUnexpected);
  try {
    const node = await start();
    await Promise.race([node.stopped, stopRequested.promise]);
    if (firstSignalAt !== undefined) await node.stop();
    await node.stopped;
    logger.info("Stopped");
    return EXIT_CODES.ok;
  } catch (error) {
    const mendable = asStartupError(error);
    if (mendable) throw mendable;
    logger.fatal("An unexpected error ends the process", { error });
    return EXIT_CODES.internal;
  } finally {
    for (const signal of STOP_SIGNALS) events.off(signal, onSignal);
    events.off("uncaughtException", onUnexpected);
    events.off("unhandledRejection", onUnexpected);
  }
}
