import { PublicKey } from "@chainsafe/blst";
import { OperationalError } from "../errors/operational-error.ts";

/** The public key of a validator from its bytes, compressed or not. Whether it is one of the group was asked when it was registered. */
export function readKey(index: number, bytes: Uint8Array): PublicKey {
  try {
    return PublicKey.fromBytes(bytes);
  } catch {
    throw new BadPubkeyError(index, bytes);
  }
}

/** What is registered for a validator is no public key. No transition leads to a state with such a validator. */
export class BadPubkeyError extends OperationalError {
  constructor(index: number, bytes: Uint8Array) {
    const key = `0x${Buffer.from(bytes).toString("hex")}`;
    super(`the public key ${key} of validator ${index} is not a point of the curve`);
  }
}
