import type { phase0 } from "@lodestar/types";
import { CREDENTIALS_BYTES, PUBKEY_BYTES, VALIDATOR_BYTES, VALIDATOR_FIELDS } from "../../ssz/validator-layout.ts";

/** FAR_FUTURE_EPOCH rounded to a double. */
const FAR_FUTURE = 2 ** 64;

/**
 * Validator backed by SSZ bytes in a shared buffer; fields are decoded on access. A plain object with two byte arrays
 * takes five times the memory: half a gigabyte for a million validators.
 */
export class PackedValidator implements phase0.Validator {
  readonly #bytes: Uint8Array;
  readonly #offset: number;

  constructor(bytes: Uint8Array, offset: number) {
    this.#bytes = bytes;
    this.#offset = offset;
  }

  /** Returns the shared buffer if it contains exactly these validators in order, otherwise undefined. */
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
    return this.#copy(VALIDATOR_FIELDS.pubkey, PUBKEY_BYTES);
  }

  get withdrawalCredentials(): Uint8Array {
    return this.#copy(VALIDATOR_FIELDS.withdrawalCredentials, CREDENTIALS_BYTES);
  }

  get effectiveBalance(): number {
    return this.#uint64(VALIDATOR_FIELDS.effectiveBalance);
  }

  get slashed(): boolean {
    return this.#bytes[this.#offset + VALIDATOR_FIELDS.slashed] === 1;
  }

  get activationEligibilityEpoch(): number {
    return this.#epoch(VALIDATOR_FIELDS.activationEligibilityEpoch);
  }

  get activationEpoch(): number {
    return this.#epoch(VALIDATOR_FIELDS.activationEpoch);
  }

  get exitEpoch(): number {
    return this.#epoch(VALIDATOR_FIELDS.exitEpoch);
  }

  get withdrawableEpoch(): number {
    return this.#epoch(VALIDATOR_FIELDS.withdrawableEpoch);
  }

  #copy(from: number, length: number): Uint8Array {
    return this.#bytes.slice(this.#offset + from, this.#offset + from + length);
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
