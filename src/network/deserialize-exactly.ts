import type { Type } from "@chainsafe/ssz";

/** Thrown for valid SSZ that contains an integer above 2^53 - 1, which a JavaScript number cannot represent. */
export class UnsafeIntegerError extends Error {
  constructor() {
    super("The SSZ value contains an integer above 2^53 - 1.");
    this.name = "UnsafeIntegerError";
  }
}

/**
 * Deserializes a value and checks that it serializes to the same bytes. Otherwise a rounded integer could give a forged
 * object the same root as a genuine one, which would make its signature valid.
 *
 * @throws UnsafeIntegerError
 */
export function deserializeExactly<T>(type: Type<T>, bytes: Uint8Array): T {
  const value = type.deserialize(bytes);
  if (Buffer.compare(type.serialize(value), bytes) !== 0) throw new UnsafeIntegerError();
  return value;
}
