import { bytesToBigint, encodeBytes, encodeList, encodeNumber } from "../rlp.ts";
import { AccessRecorder } from "../state/access-recorder.ts";
import { type AccountRecord, NO_ACCOUNT } from "../state/world.ts";
import { InvalidBlockError } from "./invalid-block.ts";

/** EIP-7928, ITEM_COST: gas of the block limit for each address and each slot in the list. */
const ITEM_GAS = 2000n;

/** Reads the state by map keys. Implemented by `WorldState`. */
export interface StateView {
  accountOf(key: string): AccountRecord | undefined;
  /** Returns the value without leading zeros. */
  slotOf(key: string, slot: string): Uint8Array;
}

/** A value with the index of the phase that set it. */
type Changes<T> = [index: number, value: T][];

/** Everything that the list contains about an account. */
interface Entry {
  balance: bigint;
  nonce: bigint;
  codeHash: Uint8Array;
  readonly balances: Changes<bigint>;
  readonly nonces: Changes<bigint>;
  readonly codes: Changes<Uint8Array>;
  readonly slots: Map<string, { value: Uint8Array; readonly values: Changes<Uint8Array> }>;
}

/**
 * Block access list (EIP-7928). At the end of each phase of a block, compares the accessed accounts and slots with
 * their state at the end of the previous phase.
 */
export class AccessList {
  readonly recorder: AccessRecorder = new AccessRecorder();
  readonly #before: StateView;
  readonly #entries = new Map<string, Entry>();

  /** Takes the state before the block. */
  constructor(before: StateView) {
    this.#before = before;
  }

  /** Discards the accesses of a transaction that the block does not include. */
  discardPhase(): void {
    this.recorder.take();
  }

  /** Adds what the current phase has accessed and changed, and starts the next phase. */
  endPhase(state: StateView): void {
    const { recorder } = this;
    const index = recorder.blockAccessIndex++;
    for (const [key, slots] of recorder.take()) {
      const entry = this.#entryOf(key);
      const { balance, nonce, code, codeHash } = state.accountOf(key) ?? NO_ACCOUNT;
      if (balance !== entry.balance) entry.balances.push([index, balance]);
      if (nonce !== entry.nonce) entry.nonces.push([index, nonce]);
      if (Buffer.compare(codeHash, entry.codeHash) !== 0) entry.codes.push([index, code]);
      Object.assign(entry, { balance, nonce, codeHash });
      for (const slot of slots) this.#endSlot(entry, key, slot, index, state);
    }
  }

  #endSlot(entry: Entry, key: string, slot: string, index: number, state: StateView): void {
    let known = entry.slots.get(slot);
    if (known === undefined) {
      known = { value: this.#before.slotOf(key, slot), values: [] };
      entry.slots.set(slot, known);
    }
    const value = state.slotOf(key, slot);
    if (Buffer.compare(value, known.value) === 0) return;
    known.value = value;
    known.values.push([index, value]);
  }

  #entryOf(key: string): Entry {
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      const { balance, nonce, codeHash } = this.#before.accountOf(key) ?? NO_ACCOUNT;
      entry = { balance, nonce, codeHash, balances: [], nonces: [], codes: [], slots: new Map() };
      this.#entries.set(key, entry);
    }
    return entry;
  }

  /** Returns the RLP of the list. */
  encode(): Uint8Array {
    return encodeList(sortedByKey(this.#entries).map(([key, entry]) => encodeEntry(key, entry)));
  }

  /** Throws an `InvalidBlockError` if the list has more items than the gas limit allows. */
  requireFits(gasLimit: bigint): void {
    let items = this.#entries.size;
    for (const { slots } of this.#entries.values()) items += slots.size;
    const limit = gasLimit / ITEM_GAS;
    if (BigInt(items) <= limit) return;
    throw new InvalidBlockError(
      "blockAccessList",
      `the block accesses ${items} accounts and slots, its gas limit of ${gasLimit} allows ${limit}`,
    );
  }
}

function encodeEntry(key: string, { slots, balances, nonces, codes }: Entry): Uint8Array {
  const sorted = sortedByKey(slots);
  const written = sorted.filter(([, { values }]) => values.length > 0);
  const read = sorted.filter(([, { values }]) => values.length === 0);
  return encodeList([
    encodeBytes(bytesOf(key)),
    encodeList(written.map(([slot, { values }]) => encodeList([encodeSlot(slot), encodeChanges(values, encodeBytes)]))),
    encodeList(read.map(([slot]) => encodeSlot(slot))),
    encodeChanges(balances, encodeNumber),
    encodeChanges(nonces, encodeNumber),
    encodeChanges(codes, encodeBytes),
  ]);
}

const encodeChanges = <T>(changes: Changes<T>, encode: (value: T) => Uint8Array): Uint8Array =>
  encodeList(changes.map(([index, value]) => encodeList([encodeNumber(index), encode(value)])));

const encodeSlot = (slot: string): Uint8Array => encodeNumber(bytesToBigint(bytesOf(slot)));

/** Keys have one character per byte, so their order is that of the bytes. */
const sortedByKey = <T>(map: ReadonlyMap<string, T>): [string, T][] =>
  [...map].sort(([one], [other]) => (one < other ? -1 : 1));

const bytesOf = (key: string): Uint8Array => Buffer.from(key, "latin1");
