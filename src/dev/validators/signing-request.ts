import { SecretKey, type Signature } from "@chainsafe/blst";

/** Secret key and signing root as one hex string, usable as a map key and as a message between threads. */
export type SigningRequest = string;

const KEY_DIGITS = 64;

/** @param secretKey scalar of the secret key */
export function signingRequest(secretKey: bigint, signingRoot: Uint8Array): SigningRequest {
  return secretKey.toString(16).padStart(KEY_DIGITS, "0") + Buffer.from(signingRoot).toString("hex");
}

export function signRequest(request: SigningRequest): Signature {
  const secretKey = SecretKey.fromBytes(Buffer.from(request.slice(0, KEY_DIGITS), "hex"));
  return secretKey.sign(Buffer.from(request.slice(KEY_DIGITS), "hex"));
}
