import { acquireBuffer, releaseBuffer } from "./buffer-pool.ts";
import { ByteWriter } from "./byte-writer.ts";
import { MIN_ROOM_BYTES, type StreamWriter, streamBuffers } from "./stream-writer.ts";
import { writeAttesterDuties, writeCommittees } from "./writers/committee-writers.ts";
import {
  balancesSszLength,
  identitiesSszLength,
  validatorAtPosition,
  writeBalances,
  writeBalancesSsz,
  writeIdentities,
  writeIdentitiesSsz,
  writeValidators,
} from "./writers/registry-writers.ts";
import { writeAttestationRewards } from "./writers/reward-writers.ts";
import { stateLength, writeState } from "./writers/state-writer.ts";

/** All writers by name. */
const writers = {
  validators: writeValidators,
  balances: writeBalances,
  balancesSsz: writeBalancesSsz,
  identities: writeIdentities,
  identitiesSsz: writeIdentitiesSsz,
  committees: writeCommittees,
  attesterDuties: writeAttesterDuties,
  attestationRewards: writeAttestationRewards,
  state: writeState,
};

type Writers = typeof writers;

/**
 * Describes a stream by its writer and input. A structured clone of the descriptor produces the same bytes in another
 * thread.
 */
export type StreamDescriptor = {
  [Name in keyof Writers]: { readonly writer: Name; readonly input: Parameters<Writers[Name]>[0] };
}[keyof Writers];

/**
 * A lazy stream of bytes that writes one buffer per turn of the event loop. The descriptor can be sent to another
 * thread instead of the bytes, in which case `release` signals that the other thread is done.
 */
export class SharedStream implements AsyncIterable<Buffer> {
  readonly descriptor: StreamDescriptor;
  readonly #listeners: (() => void)[] = [];
  #isReleased = false;

  private constructor(descriptor: StreamDescriptor) {
    this.descriptor = descriptor;
  }

  static of(descriptor: StreamDescriptor): SharedStream {
    return new SharedStream(descriptor);
  }

  /** Total number of bytes, if known in advance (SSZ only). */
  get length(): number | undefined {
    switch (this.descriptor.writer) {
      case "balancesSsz":
        return balancesSszLength(this.descriptor.input);
      case "identitiesSsz":
        return identitiesSszLength(this.descriptor.input);
      case "state":
        return stateLength(this.descriptor.input);
      default:
        return undefined;
    }
  }

  /** Calls the listener once when the stream has ended or failed, or was cancelled or released. */
  onEnd(listener: () => void): void {
    if (this.#isReleased) listener();
    else this.#listeners.push(listener);
  }

  /** Ends the stream and stops reading. */
  release(): void {
    this.#isReleased = true;
    for (const listener of this.#listeners.splice(0)) listener();
  }

  /**
   * Not a generator, because calling `return()` on a generator that was never started does not run its `finally` block.
   */
  [Symbol.asyncIterator](): AsyncIterator<Buffer> {
    const source = streamBuffers(writerOf(this.descriptor), this.descriptor.input);
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
          releaseBuffer(next.value);
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

/** Reused for all small results, which are copied out. */
const scratch = acquireBuffer();

/** Writes a small result to a buffer, synchronously. */
export function writeToBuffer(descriptor: StreamDescriptor): Buffer {
  const out = new ByteWriter(scratch);
  const pieces: Buffer[] = [];
  for (const _ of writerOf(descriptor)(descriptor.input, out)) {
    if (out.room >= MIN_ROOM_BYTES) continue;
    pieces.push(Buffer.from(out.written));
    out.continueIn(scratch);
  }
  return Buffer.concat([...pieces, out.written]);
}

/** Results with at most this many records are written in one go, which is cheaper than a stream. */
const MAX_RECORDS_AT_ONCE = 256;

/** Returns a small result as bytes and a larger one as a stream. */
export function writeOrStream(descriptor: StreamDescriptor, records: number): Buffer | SharedStream {
  return records <= MAX_RECORDS_AT_ONCE ? writeToBuffer(descriptor) : SharedStream.of(descriptor);
}

/**
 * Writes the list element at a position. Returns undefined if the list is too short or its elements are not records.
 */
export function writeElement(list: StreamDescriptor, position: number): Buffer | undefined {
  const input = list.writer === "validators" ? validatorAtPosition(list.input, position) : undefined;
  return input && writeToBuffer({ writer: "validators", input }).subarray(1, -1);
}

// The descriptor's type guarantees that the input fits the writer.
function writerOf({ writer }: StreamDescriptor): StreamWriter<unknown> {
  return writers[writer] as StreamWriter<unknown>;
}
