import { KEY_BYTES, REQUEST_BYTES, type SigningRequest } from "./signing-request.ts";

/** Cells of the queue: enough for the signatures of a few slots. A power of two, so that counters may overflow. */
export const CELL_COUNT = 64;

/** Length of an uncompressed signature. Decompressing would cost the reader a tenth of the time saved. */
const SIGNATURE_BYTES = 192;
const CELL_BYTES = REQUEST_BYTES + SIGNATURE_BYTES;

const IDLE = 0;
const QUEUED = 1;
const TAKEN = 2;
const SIGNED = 3;

/** Index of the counter of announced requests. */
const ANNOUNCED = 0;
/** Index of the word that is not zero while the waiting thread has to be woken. The states of the cells follow. */
const ASLEEP = 1;
const FIRST_STATE = 2;
/** Interval at which the waiting thread looks for requests as long as they keep arriving. */
const POLL_MS = 0.25;
/** Number of such looks before the thread sleeps. */
const MAX_POLLS = 80;

const HEADER_BYTES = (FIRST_STATE + CELL_COUNT) * Int32Array.BYTES_PER_ELEMENT;

/**
 * Ring of signing requests and their signatures in memory shared by two threads. Waking a thread may take as long as a
 * signature, so requests wake the thread only in batches, a thread that has just signed polls for more, and finished
 * signatures wake no thread. Either thread may take a queued request, and only one gets it.
 */
export class SigningQueue {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #cells: Uint8Array[];
  #put = 0;

  /** @param memory of the queue to share; by default, creates a new queue */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(HEADER_BYTES + CELL_COUNT * CELL_BYTES)) {
    this.memory = memory;
    this.#words = new Int32Array(memory, 0, FIRST_STATE + CELL_COUNT);
    this.#cells = Array.from(
      { length: CELL_COUNT },
      (_, cell) => new Uint8Array(memory, HEADER_BYTES + cell * CELL_BYTES, CELL_BYTES),
    );
  }

  /** Queues a request in the next cell, whose signature it replaces. Returns the cell, or undefined if it is in use. */
  put({ secretKey, signingRoot }: SigningRequest): number | undefined {
    const cell = this.#put & (CELL_COUNT - 1);
    if (this.#is(cell, QUEUED) || this.#is(cell, TAKEN)) return undefined;
    this.#cells[cell]!.set(secretKey);
    this.#cells[cell]!.set(signingRoot, KEY_BYTES);
    Atomics.store(this.#words, FIRST_STATE + cell, QUEUED);
    this.#put++;
    return cell;
  }

  /** Announces the requests put since the last call. Wakes the other thread if it is asleep. */
  announce(): void {
    Atomics.store(this.#words, ANNOUNCED, this.#put | 0);
    if (Atomics.load(this.#words, ASLEEP) !== 0) Atomics.notify(this.#words, ANNOUNCED);
  }

  /** Number of requests announced so far, as a 32-bit integer that overflows. */
  get announced(): number {
    return Atomics.load(this.#words, ANNOUNCED);
  }

  /** Waits until more requests are announced. */
  waitForMore(announced: number): void {
    for (let polls = 0; polls < MAX_POLLS; polls++) {
      if (this.announced !== announced) return;
      Atomics.wait(this.#words, ANNOUNCED, announced, POLL_MS);
    }
    Atomics.store(this.#words, ASLEEP, 1);
    Atomics.wait(this.#words, ANNOUNCED, announced);
    Atomics.store(this.#words, ASLEEP, 0);
  }

  /** Takes a queued request. Returns undefined if the cell has none. */
  take(cell: number): SigningRequest | undefined {
    if (Atomics.compareExchange(this.#words, FIRST_STATE + cell, QUEUED, TAKEN) !== QUEUED) return undefined;
    const bytes = this.#cells[cell]!;
    // The signature library takes no shared memory.
    return { secretKey: bytes.slice(0, KEY_BYTES), signingRoot: bytes.slice(KEY_BYTES, REQUEST_BYTES) };
  }

  /** Takes the queued request that was put last. */
  takeLast(): { cell: number; request: SigningRequest } | undefined {
    for (let age = 1; age <= CELL_COUNT; age++) {
      const cell = (this.#put - age) & (CELL_COUNT - 1);
      const request = this.take(cell);
      if (request) return { cell, request };
    }
    return undefined;
  }

  /** Removes a queued request. Returns false if it is taken or signed. */
  withdraw(cell: number): boolean {
    return Atomics.compareExchange(this.#words, FIRST_STATE + cell, QUEUED, IDLE) === QUEUED;
  }

  /** Sets the uncompressed signature for a taken request. */
  complete(cell: number, signature: Uint8Array): void {
    this.#cells[cell]!.set(signature, REQUEST_BYTES);
    Atomics.store(this.#words, FIRST_STATE + cell, SIGNED);
    Atomics.notify(this.#words, FIRST_STATE + cell);
  }

  /** Waits while the request is taken. Returns the uncompressed signature, or undefined if there is none in time. */
  signature(cell: number, waitMs: number): Uint8Array | undefined {
    Atomics.wait(this.#words, FIRST_STATE + cell, TAKEN, waitMs);
    return this.#is(cell, SIGNED) ? this.#cells[cell]!.slice(REQUEST_BYTES) : undefined;
  }

  isTaken(cell: number): boolean {
    return this.#is(cell, TAKEN);
  }

  #is(cell: number, state: number): boolean {
    return Atomics.load(this.#words, FIRST_STATE + cell) === state;
  }
}
