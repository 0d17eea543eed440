import { SecretKey, type Signature } from "@chainsafe/blst";

export const KEY_BYTES = 32;
export const REQUEST_BYTES = KEY_BYTES + 32;

/** Message for a secret key to sign. */
export interface SigningRequest {
  secretKey: Uint8Array;
  signingRoot: Uint8Array;
}

/** @param scalar of the secret key */
export function signingRequest(scalar: bigint, signingRoot: Uint8Array): SigningRequest {
  return { secretKey: Buffer.from(scalar.toString(16).padStart(2 * KEY_BYTES, "0"), "hex"), signingRoot };
}

export function signRequest({ secretKey, signingRoot }: SigningRequest): Signature {
  return SecretKey.fromBytes(secretKey).sign(signingRoot);
}
