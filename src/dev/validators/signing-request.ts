import { SecretKey, type Signature } from "@chainsafe/blst";

/** A secret key and what it is to sign, as one text, which threads can hand over and maps can hold. */
export type SigningRequest = string;

const KEY_DIGITS = 64;

/** With the secret key as the number that it is. */
export function signingRequest(secretKey: bigint, signingRoot: Uint8Array): SigningRequest {
  return secretKey.toString(16).padStart(KEY_DIGITS, "0") + Buffer.from(signingRoot).toString("hex");
}

export function makeSignature(request: SigningRequest): Signature {
  const secretKey = SecretKey.fromBytes(Buffer.from(request.slice(0, KEY_DIGITS), "hex"));
  return secretKey.sign(Buffer.from(request.slice(KEY_DIGITS), "hex"));
}
