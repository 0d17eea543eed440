import { createHmac } from "node:crypto";

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

const HEADER = encode({ alg: "HS256", typ: "JWT" });

/**
 * Creates a JWT. Execution clients accept the token within 60 seconds of its issue time (execution-apis,
 * authentication.md).
 */
export function createToken(secret: Uint8Array, unixMs: number): string {
  const signed = `${HEADER}.${encode({ iat: Math.floor(unixMs / 1000) })}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}
