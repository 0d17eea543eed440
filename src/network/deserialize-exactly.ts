import type { Type } from "@chainsafe/ssz";

/** The bytes are valid SSZ with an integer above 2^53 - 1, which a JavaScript number cannot hold. */
export class InexactNumberError extends Error {
  constructor() {
    super("An integer is above 2^53 - 1.");
    this.name = "InexactNumberError";
  }
}

/**
 * Deserializes a value that survives a round trip. A rounded integer would be hashed as another one, so that a forged object could
 * have the root, and with it the signature, of a genuine one.
 *
 * @throws InexactNumberError
 */
export function deserializeExactly<T>(type: Type<T>, bytes: Uint8Array): T {
  const value = type.deserialize(bytes);
  if (Buffer.compare(type.serialize(value), bytes) !== 0) throw new InexactNumberError();
  return value;
}
