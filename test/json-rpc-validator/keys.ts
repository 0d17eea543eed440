import { createHash } from "node:crypto";
import { SecretKey } from "@chainsafe/blst";

/** Order of the curve's groups. Secret keys are below it. */
const CURVE_ORDER = 52435875175126190479447740508185965837690552500527637822603658699938581184513n;

export interface ValidatorKey {
  readonly index: number;
  /** Hex of the public key. */
  readonly pubkey: string;
  readonly secretKey: SecretKey;
}

/** Interop keys: the hash of the index as a little-endian number. */
export function interopKeys(count: number): ValidatorKey[] {
  return Array.from({ length: count }, (_, index) => {
    const preimage = Buffer.alloc(32);
    preimage.writeUInt32LE(index);
    const digest = createHash("sha256").update(preimage).digest().reverse();
    const secret = BigInt(`0x${digest.toString("hex")}`) % CURVE_ORDER;
    const secretKey = SecretKey.fromHex(secret.toString(16).padStart(64, "0"));
    return { index, secretKey, pubkey: secretKey.toPublicKey().toHex() };
  });
}
