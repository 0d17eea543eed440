import { ownTurn, TimeSlice } from "../time-slice.ts";
import { giveBackBuffer, takeBuffer } from "./buffer-pool.ts";
import { ByteWriter } from "./byte-writer.ts";
import {
  writeBalances,
  writeBalancesSsz,
  writeIdentities,
  writeIdentitiesSsz,
  writeValidators,
} from "./registry-writers.ts";
import { ROOM_BYTES, type StreamWriter } from "./stream-writer.ts";

/** All writers by the names that recipes have for them. */
const writers = {
  validators: writeValidators,
  balances: writeBalances,
  balancesSsz: writeBalancesSsz,
  identities: writeIdentities,
  identitiesSsz: writeIdentitiesSsz,
};

type Writers = typeof writers;

/** What a stream is made of: a structured clone of it makes the same bytes in another thread. */
export type Recipe = {
  [Name in keyof Writers]: { readonly writer: Name; readonly input: Parameters<Writers[Name]>[0] };
}[keyof Writers];

/**
 * Bytes that are written as they are read, a buffer in each turn of the event loop. Whoever has no more use for a buffer can
 * give it back to the pool that it is from. Instead of the bytes, another thread can
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
    const out = new ByteWriter(Buffer.alloc(0));
    const steps = begin(this.recipe, out);
    const end = (): IteratorResult<Buffer> => {
      this.release();
      return { done: true, value: undefined };
    };
    return {
      next: async () => {
        try {
          const buffer = await this.#fill(out, steps);
          return buffer === undefined ? end() : { done: false, value: buffer };
        } catch (error) {
          this.release();
          throw error;
        }
      },
      return: async () => end(),
    };
  }

  /** The next buffer; undefined when there is nothing more to write, or nobody to write it for. */
  async #fill(out: ByteWriter, steps: Generator<void, void, void>): Promise<Buffer | undefined> {
    await ownTurn();
    const slice = new TimeSlice();
    out.continueIn(takeBuffer());
    let isDone = false;
    while (!isDone && !this.#isReleased && out.room >= ROOM_BYTES) {
      isDone = steps.next().done === true;
      if (!isDone) await slice.breathe();
    }
    if (!this.#isReleased && out.at > 0) return out.written;
    giveBackBuffer(out.bytes);
    return undefined;
  }
}

/** Where small answers are written before they are copied out. */
const scratch = takeBuffer();

/** All bytes at once, for what is small. */
export function writtenAtOnce(recipe: Recipe): Buffer {
  const out = new ByteWriter(scratch);
  const pieces: Buffer[] = [];
  for (const _ of begin(recipe, out)) {
    if (out.room >= ROOM_BYTES) continue;
    pieces.push(Buffer.from(out.written));
    out.continueIn(scratch);
  }
  return Buffer.concat([...pieces, out.written]);
}

/** The type of a recipe says that its input is one for its writer. */
function begin({ writer, input }: Recipe, out: ByteWriter): Generator<void, void, void> {
  return (writers[writer] as StreamWriter<unknown>)(input, out);
}
