import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";

/**
 * Severity of an offence. A disconnect takes one fatal offence, a few severe ones, about ten moderate ones, or dozens
 * of mild ones.
 */
export type Severity = "fatal" | "severe" | "moderate" | "mild";

/** Receives reports of peer misbehaviour. */
export interface PeerReporter {
  /** `reason` is a short text for logs, such as "blocks out of order". */
  penalize(peerId: string, severity: Severity, reason: string): void;
}

/** `poor`: disconnected and refused for a few minutes. `banned`: refused for longer. */
export type Standing = "good" | "poor" | "banned";

type DemotionListener = (peerId: string, standing: Exclude<Standing, "good">, reason: string) => void;

const PENALTIES: Record<Severity, number> = { fatal: 100, severe: 6, moderate: 2, mild: 0.4 };
const POOR_SCORE = -20;
const WORST_SCORE = -100;
const HALF_LIFE_MS = 10 * 60_000;
const POOR_MS = 2 * 60_000;
export const BAN_MS = 30 * 60_000;
/** Scores above this value are forgiven. */
const NEGLIGIBLE = -0.05;
const MAX_RECORDS = 2_000;

interface ScoreRecord {
  /** The score at the time `at`. Decay is applied when it is read. */
  score: number;
  at: number;
  standing: Standing;
  /** When the standing expires. Unused if it is good. */
  until: number;
}

interface PeerScoresParts {
  timers?: Pick<Timers, "now">;
  maxRecords?: number;
}

/**
 * Peer scores from 0 down to −100, which decay back to 0. Created before the host, whose connection gater uses them to
 * refuse banned peers.
 */
export class PeerScores implements PeerReporter {
  readonly #timers: Pick<Timers, "now">;
  readonly #maxRecords: number;
  /** In the order in which the records were last changed. */
  readonly #records = new Map<string, ScoreRecord>();
  readonly #listeners = new Set<DemotionListener>();

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
    if (this.#records.size > this.#maxRecords) this.#evictOne(now);
    if (standing !== "good" && standing !== earlier) {
      for (const listener of this.#listeners) listener(peerId, standing, reason);
    }
  }

  /** Restores a ban from an earlier run for the rest of its duration. */
  restoreBan(peerId: string, remainingMs: number): void {
    const now = this.#timers.now();
    this.#records.set(peerId, { score: WORST_SCORE, at: now, standing: "banned", until: now + remainingMs });
  }

  /** Returns a peer's score, from 0 (the best) down to −100. */
  score(peerId: string): number {
    const record = this.#records.get(peerId);
    return record ? decayed(record, this.#timers.now()) : 0;
  }

  standing(peerId: string): Standing {
    const record = this.#records.get(peerId);
    return record ? standingOf(record, this.#timers.now()) : "good";
  }

  /** Returns true if connections with the peer are allowed, in either direction. */
  allows(peerId: string): boolean {
    return this.standing(peerId) === "good";
  }

  /**
   * Calls the listener when a peer's standing drops, so that the peer must be disconnected. Returns an unsubscribe
   * function.
   */
  onDemotion(listener: DemotionListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Evicts a forgiven record if possible, or otherwise the oldest record without a ban, or otherwise the oldest record.
   */
  #evictOne(now: number): void {
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
    const evicted = oldestUnbanned ?? oldest;
    if (evicted !== undefined) this.#records.delete(evicted);
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
