import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";

/** How often a peer may do something of the kind before it is dropped: never again, a few times, or some dozens of times. */
export type Severity = "fatal" | "severe" | "moderate" | "mild";

/** Takes note of what peers do wrong. */
export interface PeerReporter {
  /** `reason` is a few words for the log, such as "blocks out of order". */
  penalize(peerId: string, severity: Severity, reason: string): void;
}

/** `poor`: disconnected, and not spoken to for a while. `banned`: for longer. */
export type Standing = "good" | "poor" | "banned";

type FallListener = (peerId: string, standing: Exclude<Standing, "good">, reason: string) => void;

const PENALTIES: Record<Severity, number> = { fatal: 100, severe: 6, moderate: 2, mild: 0.4 };
const POOR_SCORE = -20;
const WORST_SCORE = -100;
const HALF_LIFE_MS = 10 * 60_000;
const POOR_MS = 2 * 60_000;
export const BAN_MS = 30 * 60_000;
/** A score as small as this is as good as none. */
const NEGLIGIBLE = -0.05;
const MAX_RECORDS = 2_000;

interface ScoreRecord {
  /** At `at`; since then it has decayed. */
  score: number;
  at: number;
  standing: Standing;
  /** When a standing that is not good ends. */
  until: number;
}

interface PeerScoresParts {
  timers?: Pick<Timers, "now">;
  maxRecords?: number;
}

/**
 * What peers did wrong, as a number from 0 down to −100 that recovers with time. It exists before there is a network, so
 * that connections of peers that were sent away can be refused before they cost anything.
 */
export class PeerScores implements PeerReporter {
  readonly #timers: Pick<Timers, "now">;
  readonly #maxRecords: number;
  /** The record that changed last stands last. */
  readonly #records = new Map<string, ScoreRecord>();
  readonly #listeners = new Set<FallListener>();

  constructor({ timers = SYSTEM_TIMERS, maxRecords = MAX_RECORDS }: PeerScoresParts = {}) {
    this.#timers = timers;
    this.#maxRecords = maxRecords;
  }

  penalize(peerId: string, severity: Severity, reason: string): void {
    const now = this.#timers.now();
    const before = this.#records.get(peerId);
    const score = Math.max(WORST_SCORE, (before ? decayed(before, now) : 0) - PENALTIES[severity]);
    const earlier = before ? standingOf(before, now) : "good";
    const standing = worse(earlier, score <= WORST_SCORE ? "banned" : score <= POOR_SCORE ? "poor" : "good");
    const until = standing === earlier && before ? before.until : now + (standing === "banned" ? BAN_MS : POOR_MS);
    this.#records.delete(peerId);
    this.#records.set(peerId, { score, at: now, standing, until });
    if (this.#records.size > this.#maxRecords) this.#forgetOne(now);
    if (standing !== "good" && standing !== earlier) {
      for (const listener of this.#listeners) listener(peerId, standing, reason);
    }
  }

  /** Bans a peer for the rest of a ban that an earlier run of this node began. */
  restoreBan(peerId: string, remainingMs: number): void {
    const now = this.#timers.now();
    this.#records.set(peerId, { score: WORST_SCORE, at: now, standing: "banned", until: now + remainingMs });
  }

  /** From 0, the best, down to −100. */
  score(peerId: string): number {
    const record = this.#records.get(peerId);
    return record ? decayed(record, this.#timers.now()) : 0;
  }

  standing(peerId: string): Standing {
    const record = this.#records.get(peerId);
    return record ? standingOf(record, this.#timers.now()) : "good";
  }

  /** Whether a connection with the peer may be opened, by whichever side. */
  allows(peerId: string): boolean {
    return this.standing(peerId) === "good";
  }

  /** Calls the listener when a peer should be sent away. Returns the function that ends it. */
  onFall(listener: FallListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What is forgiven goes first, then what happened longest ago, and bans last. */
  #forgetOne(now: number): void {
    let oldest: string | undefined;
    let oldestUnbanned: string | undefined;
    for (const [peerId, record] of this.#records) {
      const standing = standingOf(record, now);
      if (standing === "good" && decayed(record, now) > NEGLIGIBLE) {
        this.#records.delete(peerId);
        return;
      }
      oldest ??= peerId;
      if (standing !== "banned") oldestUnbanned ??= peerId;
    }
    const forgotten = oldestUnbanned ?? oldest;
    if (forgotten !== undefined) this.#records.delete(forgotten);
  }
}

function decayed({ score, at }: ScoreRecord, now: number): number {
  return score * 0.5 ** ((now - at) / HALF_LIFE_MS);
}

function standingOf({ standing, until }: ScoreRecord, now: number): Standing {
  return now < until ? standing : "good";
}

function worse(a: Standing, b: Standing): Standing {
  if (a === "banned" || b === "banned") return "banned";
  return a === "poor" || b === "poor" ? "poor" : "good";
}
