import { SYSTEM_TIMERS, type Timers } from "../async/timers.ts";
import type { LogFields, Logger } from "./logger.ts";

/** What is over sooner than this needs no telling; what is not is told of as often. */
const REPORT_INTERVAL_MS = 5_000;
const FIRST_REPORT_MS = 2_000;
/** Over how long the speed is averaged. */
const WINDOW_MS = 60_000;

interface Sample {
  at: number;
  done: number;
}

interface ProgressParts {
  /** What is under way, as the beginning of a line. */
  message: string;
  logger: Logger;
  timers?: Pick<Timers, "now">;
  /** How long it may take before the first line; two seconds unless given. */
  firstAfterMs?: number;
}

/** Tells in the log how something long goes, in percent and time left: once in a while, however often it is asked to. */
export class Progress {
  readonly #parts: ProgressParts;
  readonly #timers: Pick<Timers, "now">;
  readonly #startedAt: number;
  readonly #firstAfterMs: number;
  #samples: Sample[] = [];
  #nextReportAt: number;

  constructor(parts: ProgressParts) {
    this.#parts = parts;
    this.#timers = parts.timers ?? SYSTEM_TIMERS;
    this.#startedAt = this.#timers.now();
    this.#firstAfterMs = parts.firstAfterMs ?? FIRST_REPORT_MS;
    this.#nextReportAt = this.#startedAt + this.#firstAfterMs;
    this.begin();
  }

  /** What is done is counted from zero again. */
  begin(): void {
    this.#samples = [{ at: this.#timers.now(), done: 0 }];
  }

  /** Without a total, or when there was nothing to do, neither percent nor time left can be told. */
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
    const hasEnd = total !== undefined && total > 0;
    this.#parts.logger.info(this.#parts.message, {
      ...fields(perSecond === undefined ? undefined : rounded(perSecond)),
      percent: hasEnd ? Math.floor((100 * Math.min(Math.max(done, 0), total)) / total) : undefined,
      timeLeft: hasEnd && perSecond !== undefined ? inWords((total - done) / perSecond) : undefined,
    });
  }

  /** Tells that it is over, unless that was so soon that nothing needed telling. */
  finish(): void {
    const took = this.#timers.now() - this.#startedAt;
    if (took >= this.#firstAfterMs)
      this.#parts.logger.info(`${this.#parts.message}: done`, { took: inWords(took / 1000) });
  }

  #perSecond(): number | undefined {
    const first = this.#samples[0];
    const last = this.#samples.at(-1);
    if (!first || !last || last.done <= first.done) return undefined;
    return ((last.done - first.done) / (last.at - first.at)) * 1000;
  }
}

const noFields = (): LogFields => ({});

/** To three digits, which is as much as a speed is worth. */
export const rounded = (value: number): number => Number(value.toPrecision(3));

function inWords(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  if (hours > 0) return `${hours}h ${minutes}min`;
  if (minutes > 0) return `${minutes}min ${whole % 60}s`;
  return `${whole}s`;
}
