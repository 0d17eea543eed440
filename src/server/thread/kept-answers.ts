import { SizedMap } from "../../sized-map.ts";
import { type KeptWhile, REVISION_PLACES } from "./protocol.ts";

interface KeptAnswer<Answer> {
  answer: Answer;
  while: KeptWhile;
  /** When it came. */
  at: number;
}

interface KeptLimits {
  answers: number;
  bytes: number;
  /** A larger answer is not kept. */
  answerBytes: number;
  /** A node that is stuck does not go on telling that all is well; one that is not tells anew in each slot. */
  statusMillis: number;
}

const DEFAULT_LIMITS: KeptLimits = {
  answers: 1024,
  bytes: 16 * 1024 * 1024,
  answerBytes: 256 * 1024,
  statusMillis: 15_000,
};

/** Answers that are true as long as a number in shared memory is the one that they were made with. */
export class KeptAnswers<Answer> {
  readonly #revision: Int32Array;
  readonly #limits: KeptLimits;
  readonly #now: () => number;
  readonly #answers: SizedMap<KeptAnswer<Answer>>;

  constructor(revision: Int32Array, limits: Partial<KeptLimits> = {}, now: () => number = () => performance.now()) {
    this.#revision = revision;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#answers = new SizedMap({ entries: this.#limits.answers, bytes: this.#limits.bytes });
    this.#now = now;
  }

  get(key: string): Answer | undefined {
    const kept = this.#answers.get(key);
    if (kept === undefined) return undefined;
    if (this.#isTrue(kept)) return kept.answer;
    this.#answers.delete(key);
    return undefined;
  }

  /** Whether what is kept may become untrue. */
  canChange(key: string): boolean {
    return this.#answers.get(key)?.while !== "always";
  }

  /** `size` is that of the body. An answer that was made before the one that is kept does not take its place. */
  put(key: string, answer: Answer, size: number, keptWhile: KeptWhile): void {
    if (key.length + size > this.#limits.answerBytes) return;
    const before = this.#answers.get(key)?.while;
    if (before !== undefined && isOlder(keptWhile, before)) return;
    this.#answers.set(key, { answer, while: keptWhile, at: this.#now() }, size);
  }

  #isTrue({ while: keptWhile, at }: KeptAnswer<Answer>): boolean {
    if (keptWhile === "always") return true;
    const { on, revision } = keptWhile;
    if (Atomics.load(this.#revision, REVISION_PLACES[on]) !== revision) return false;
    return on !== "status" || this.#now() - at < this.#limits.statusMillis;
  }
}

/** The numbers of the revision go on at the smallest one after the largest. */
function isOlder(one: KeptWhile, other: KeptWhile): boolean {
  return one !== "always" && other !== "always" && ((one.revision - other.revision) | 0) < 0;
}
