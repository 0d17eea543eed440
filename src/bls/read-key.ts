import { PublicKey } from "@chainsafe/blst";
import { OperationalError } from "../errors/operational-error.ts";

/** Reads a validator's public key, compressed or not. Subgroup membership was checked at registration. */
export function readKey(index: number, bytes: Uint8Array): PublicKey {
  try {
    return PublicKey.fromBytes(bytes);
  } catch {
    throw new BadPubkeyError(index, bytes);
  }
}

/** A registered public key is invalid. No valid state transition produces this. */
export class BadPubkeyError extends OperationalError {
  constructor(index: number, bytes: Uint8Array) {
    const key = `0x${Buffer.from(bytes).toString("hex")}`;
    super(`the public key ${key} of validator ${index} is not a point of the curve`);
  }
}
