import type { Type } from "@chainsafe/ssz";

/**
 * Reads a value, and throws where it has a number that is too large to be exact: that is hashed as another one, so that what others
 * made up has the root, and with it the signature, of something genuine.
 */
export function deserializeExactly<T>(type: Type<T>, bytes: Uint8Array): T {
  const value = type.deserialize(bytes);
  if (Buffer.compare(type.serialize(value), bytes) !== 0) throw new Error("A number is too large to be exact.");
  return value;
}
