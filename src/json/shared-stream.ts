import { giveBackBuffer, takeBuffer } from "./buffer-pool.ts";
import { ByteWriter } from "./byte-writer.ts";
import { writeAttesterDuties, writeCommittees } from "./committee-writers.ts";
import { writeLiveness } from "./liveness-writer.ts";
import {
  balancesSszLength,
  identitiesSszLength,
  onlyValidator,
  writeBalances,
  writeBalancesSsz,
  writeIdentities,
  writeIdentitiesSsz,
  writeValidators,
} from "./registry-writers.ts";
import { writeAttestationRewards } from "./reward-writers.ts";
import { stateLength, writeState } from "./state-writer.ts";
import { ROOM_BYTES, type StreamWriter, writtenBuffers } from "./stream-writer.ts";

/** All writers by the names that recipes have for them. */
const writers = {
  validators: writeValidators,
  balances: writeBalances,
  balancesSsz: writeBalancesSsz,
  identities: writeIdentities,
  identitiesSsz: writeIdentitiesSsz,
  committees: writeCommittees,
  attesterDuties: writeAttesterDuties,
  attestationRewards: writeAttestationRewards,
  liveness: writeLiveness,
  state: writeState,
};

type Writers = typeof writers;

/** What a stream is made of: a structured clone of it makes the same bytes in another thread. */
export type Recipe = {
  [Name in keyof Writers]: { readonly writer: Name; readonly input: Parameters<Writers[Name]>[0] };
}[keyof Writers];

/**
 * Bytes that are written as they are read, a buffer in each turn of the event loop. Instead of the bytes, another thread can
 * be given the recipe; this one is then told by `release` that the other has read them or does not want them.
 */
export class SharedStream implements AsyncIterable<Buffer> {
  readonly recipe: Recipe;
  readonly #listeners: (() => void)[] = [];
  #isReleased = false;

  private constructor(recipe: Recipe) {
    this.recipe = recipe;
  }

  static of(recipe: Recipe): SharedStream {
    return new SharedStream(recipe);
  }

  /** How many bytes it has in all, where that is known before they are written: of SSZ. */
  get length(): number | undefined {
    switch (this.recipe.writer) {
      case "balancesSsz":
        return balancesSszLength(this.recipe.input);
      case "identitiesSsz":
        return identitiesSszLength(this.recipe.input);
      case "state":
        return stateLength(this.recipe.input);
      default:
        return undefined;
    }
  }

  /** Called once, when the stream was read to its end, has failed, was given up or released. */
  onEnd(listener: () => void): void {
    if (this.#isReleased) listener();
    else this.#listeners.push(listener);
  }

  /** Nobody reads on here. */
  release(): void {
    this.#isReleased = true;
    for (const listener of this.#listeners.splice(0)) listener();
  }

  /** An iterator by hand, because a generator that was never begun does not hear that it is given up. */
  [Symbol.asyncIterator](): AsyncIterator<Buffer> {
    const source = writtenBuffers(writerOf(this.recipe), this.recipe.input);
    const end = (): IteratorResult<Buffer> => {
      this.release();
      return { done: true, value: undefined };
    };
    return {
      next: async () => {
        if (this.#isReleased) return end();
        try {
          const next = await source.next();
          if (next.done) return end();
          if (!this.#isReleased) return next;
          giveBackBuffer(next.value);
          return end();
        } catch (error) {
          this.release();
          throw error;
        }
      },
      return: async () => end(),
    };
  }
}

/** Where small answers are written before they are copied out. */
const scratch = takeBuffer();

/** All bytes at once, for what is small. */
export function writtenAtOnce(recipe: Recipe): Buffer {
  const out = new ByteWriter(scratch);
  const pieces: Buffer[] = [];
  for (const _ of writerOf(recipe)(recipe.input, out)) {
    if (out.room >= ROOM_BYTES) continue;
    pieces.push(Buffer.from(out.written));
    out.continueIn(scratch);
  }
  return Buffer.concat([...pieces, out.written]);
}

/** Returns the JSON of one element of a list; undefined when it has none at the index, or its elements are not indexed. */
export function writtenElement(list: Recipe, index: number): Buffer | undefined {
  const input = list.writer === "validators" ? onlyValidator(list.input, index) : undefined;
  return input && writtenAtOnce({ writer: "validators", input }).subarray(1, -1);
}

/** The type of a recipe says that its input is one for its writer. */
function writerOf({ writer }: Recipe): StreamWriter<unknown> {
  return writers[writer] as StreamWriter<unknown>;
}
