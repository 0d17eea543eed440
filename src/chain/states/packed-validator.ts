import type { phase0 } from "@lodestar/types";

/** SSZ of Validator: public key (48 bytes), withdrawal credentials (32), effective balance (8), slashed (1), four epochs (8 each). */
export const VALIDATOR_BYTES = 121;
export const CREDENTIALS_OFFSET = 48;
export const EFFECTIVE_BALANCE_OFFSET = 80;
export const SLASHED_OFFSET = 88;
export const EPOCHS_OFFSET = 89;

/** No number of epochs that is this large can be told from it. */
const FAR_FUTURE = 2 ** 64;

/**
 * A validator that stays in its SSZ bytes, together with many others, until somebody asks for something of it. An object with two
 * byte arrays of its own takes five times as much memory, which is half a gigabyte for a million of them.
 */
export class PackedValidator implements phase0.Validator {
  readonly #bytes: Uint8Array;
  readonly #offset: number;

  constructor(bytes: Uint8Array, offset: number) {
    this.#bytes = bytes;
    this.#offset = offset;
  }

  /** The shared memory that holds these validators in their order and nothing else; undefined when they lie elsewhere. */
  static memoryOf(validators: readonly unknown[]): SharedArrayBuffer | undefined {
    const [first] = validators;
    if (!(first instanceof PackedValidator)) return undefined;
    const { buffer } = first.#bytes;
    if (!(buffer instanceof SharedArrayBuffer) || buffer.byteLength !== validators.length * VALIDATOR_BYTES)
      return undefined;
    const isInPlace = (validator: unknown, index: number) =>
      validator instanceof PackedValidator &&
      validator.#bytes.buffer === buffer &&
      validator.#offset === index * VALIDATOR_BYTES;
    return validators.every(isInPlace) ? buffer : undefined;
  }

  get pubkey(): Uint8Array {
    return this.#copy(0, CREDENTIALS_OFFSET);
  }

  get withdrawalCredentials(): Uint8Array {
    return this.#copy(CREDENTIALS_OFFSET, EFFECTIVE_BALANCE_OFFSET);
  }

  get effectiveBalance(): number {
    return this.#uint64(EFFECTIVE_BALANCE_OFFSET);
  }

  get slashed(): boolean {
    return this.#bytes[this.#offset + SLASHED_OFFSET] === 1;
  }

  get activationEligibilityEpoch(): number {
    return this.#epoch(EPOCHS_OFFSET);
  }

  get activationEpoch(): number {
    return this.#epoch(EPOCHS_OFFSET + 8);
  }

  get exitEpoch(): number {
    return this.#epoch(EPOCHS_OFFSET + 16);
  }

  get withdrawableEpoch(): number {
    return this.#epoch(EPOCHS_OFFSET + 24);
  }

  #copy(from: number, to: number): Uint8Array {
    return this.#bytes.slice(this.#offset + from, this.#offset + to);
  }

  #epoch(offset: number): number {
    const epoch = this.#uint64(offset);
    return epoch === FAR_FUTURE ? Number.POSITIVE_INFINITY : epoch;
  }

  #uint64(offset: number): number {
    return this.#uint32(offset + 4) * 2 ** 32 + this.#uint32(offset);
  }

  #uint32(offset: number): number {
    const at = this.#offset + offset;
    const bytes = this.#bytes;
    return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
  }
}
