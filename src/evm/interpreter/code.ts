import { WORD_BYTES } from "./words/word.ts";

const PUSH1 = 0x60;
const PUSH32 = 0x7f;
const JUMPDEST = 0x5b;
/** Zeros appended to the code: a STOP, and the missing bytes of a PUSH at the end. */
const PADDING = WORD_BYTES + 1;

const prepared = new WeakMap<Uint8Array, PreparedCode>();

/** Code in the form read by the interpreter. */
export class PreparedCode {
  /** The code, followed by zeros. */
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly length: number;
  /** Marks each valid jump destination with a 1. */
  #destinations: Uint8Array | undefined;

  /**
   * Returns the prepared form of the code. The cache key is the array itself, because the state holds one array per
   * contract.
   */
  static of(code: Uint8Array): PreparedCode {
    let found = prepared.get(code);
    if (found === undefined) {
      found = new PreparedCode(code);
      prepared.set(code, found);
    }
    return found;
  }

  constructor(code: Uint8Array) {
    this.length = code.length;
    this.bytes = new Uint8Array(code.length + PADDING);
    this.bytes.set(code);
    this.view = new DataView(this.bytes.buffer);
  }

  isDestination(position: number): boolean {
    this.#destinations ??= findDestinations(this.bytes, this.length);
    return this.#destinations[position] === 1;
  }
}

function findDestinations(code: Uint8Array, length: number): Uint8Array {
  const destinations = new Uint8Array(length);
  for (let position = 0; position < length; position++) {
    const opcode = code[position]!;
    if (opcode === JUMPDEST) destinations[position] = 1;
    else if (opcode >= PUSH1 && opcode <= PUSH32) position += opcode - PUSH1 + 1;
  }
  return destinations;
}
