import { SYSTEM_TIMERS, type Timers } from "../async/timers.ts";
import type { LogFields, Logger } from "./logger.ts";

const REPORT_INTERVAL_MS = 5_000;
const FIRST_REPORT_MS = 2_000;
/** Window over which the rate is averaged. */
const WINDOW_MS = 60_000;

interface Sample {
  at: number;
  done: number;
}

interface ProgressOptions {
  /** Log message of every report. */
  message: string;
  logger: Logger;
  timers?: Pick<Timers, "now">;
  /** Delay before the first report; two seconds by default. */
  firstReportMs?: number;
}

/** Logs the progress of a long task, with percentage and remaining time. Reports are rate-limited. */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #timers: Pick<Timers, "now">;
  readonly #startedAt: number;
  readonly #firstReportMs: number;
  #samples: Sample[] = [];
  #nextReportAt: number;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#timers = options.timers ?? SYSTEM_TIMERS;
    this.#startedAt = this.#timers.now();
    this.#firstReportMs = options.firstReportMs ?? FIRST_REPORT_MS;
    this.#nextReportAt = this.#startedAt + this.#firstReportMs;
    this.restart();
  }

  /** Restarts the rate measurement, for a task that starts counting from zero again. */
  restart(): void {
    this.#samples = [{ at: this.#timers.now(), done: 0 }];
  }

  /** Logs a report if one is due. Percentage and remaining time require a positive `total`. */
  report(
    done: number,
    total: number | undefined,
    fields: (perSecond: number | undefined) => LogFields = noFields,
  ): void {
    const at = this.#timers.now();
    if (at < this.#nextReportAt) return;
    this.#nextReportAt = at + REPORT_INTERVAL_MS;
    this.#samples = [...this.#samples.filter((sample) => at - sample.at <= WINDOW_MS), { at, done }];
    const perSecond = this.#perSecond();
    const hasTotal = total !== undefined && total > 0;
    this.#options.logger.info(this.#options.message, {
      ...fields(perSecond === undefined ? undefined : rounded(perSecond)),
      percent: hasTotal ? Math.floor((100 * Math.min(Math.max(done, 0), total)) / total) : undefined,
      remainingSeconds: hasTotal && perSecond !== undefined ? wholeSeconds((total - done) / perSecond) : undefined,
    });
  }

  /** Logs the end of the task if it ran long enough for a report. */
  finish(fields: LogFields = {}): void {
    const took = this.#timers.now() - this.#startedAt;
    if (took >= this.#firstReportMs)
      this.#options.logger.info(`${this.#options.message}: done`, {
        ...fields,
        tookSeconds: wholeSeconds(took / 1000),
      });
  }

  #perSecond(): number | undefined {
    const first = this.#samples[0];
    const last = this.#samples.at(-1);
    if (!first || !last || last.done <= first.done) return undefined;
    return ((last.done - first.done) / (last.at - first.at)) * 1000;
  }
}

const noFields = (): LogFields => ({});

/** Rounds to three significant digits. */
export const rounded = (value: number): number => Number(value.toPrecision(3));

const wholeSeconds = (seconds: number): number => Math.max(0, Math.round(seconds));
