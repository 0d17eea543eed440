import type { Answer } from "../method-table.ts";
import type { KeptWhile } from "./protocol.ts";

interface KeptAnswer {
  answer: Answer;
  while: KeptWhile;
  bytes: number;
}

interface KeptLimits {
  answers: number;
  bytes: number;
  /** A larger answer is not kept. */
  answerBytes: number;
}

const DEFAULT_LIMITS: KeptLimits = { answers: 1024, bytes: 16 * 1024 * 1024, answerBytes: 256 * 1024 };

/** Answers that are true as long as a number in shared memory is the one that they were made with. */
export class KeptAnswers {
  readonly #revision: Int32Array;
  readonly #limits: KeptLimits;
  /** Those that were put last are last. */
  readonly #answers = new Map<string, KeptAnswer>();
  #bytes = 0;

  constructor(revision: Int32Array, limits: KeptLimits = DEFAULT_LIMITS) {
    this.#revision = revision;
    this.#limits = limits;
  }

  get(key: string): Answer | undefined {
    const kept = this.#answers.get(key);
    if (kept === undefined) return undefined;
    if (kept.while === "always" || kept.while === Atomics.load(this.#revision, 0)) return kept.answer;
    this.#drop(key, kept);
    return undefined;
  }

  put(key: string, answer: Answer, keptWhile: KeptWhile): void {
    if (!Buffer.isBuffer(answer.body)) return;
    const bytes = key.length + answer.body.length;
    if (bytes > this.#limits.answerBytes) return;
    const before = this.#answers.get(key);
    if (before) this.#drop(key, before);
    this.#answers.set(key, { answer, while: keptWhile, bytes });
    this.#bytes += bytes;
    for (const [oldest, kept] of this.#answers) {
      if (this.#answers.size <= this.#limits.answers && this.#bytes <= this.#limits.bytes) break;
      this.#drop(oldest, kept);
    }
  }

  #drop(key: string, { bytes }: KeptAnswer): void {
    this.#answers.delete(key);
    this.#bytes -= bytes;
  }
}
