import { createHmac } from "node:crypto";

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

const HEADER = encode({ alg: "HS256", typ: "JWT" });

/**
 * Creates a JWT. Execution clients accept the token within 60 seconds of its issue time (execution-apis,
 * authentication.md).
 */
export function createToken(secret: Uint8Array, unixMs: number): string {
  const signingInput = `${HEADER}.${encode({ iat: Math.floor(unixMs / 1000) })}`;
  return `${signingInput}.${createHmac("sha256", secret).update(signingInput).digest("base64url")}`;
}
