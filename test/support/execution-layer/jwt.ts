import { createHmac, timingSafeEqual } from "node:crypto";

/** JWT of the Engine API: HS256 with `iat` as the only required claim (execution-apis, authentication.md). */
const HEADER = { alg: "HS256", typ: "JWT" };
const MAX_DRIFT_SECONDS = 60;

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const signature = (input: string, secret: Uint8Array) => createHmac("sha256", secret).update(input).digest();

export function makeToken(secret: Uint8Array, claims: object = { iat: Math.floor(Date.now() / 1000) }): string {
  const input = `${encode(HEADER)}.${encode(claims)}`;
  return `${input}.${signature(input, secret).toString("base64url")}`;
}

/** Returns why an Authorization header is rejected. Undefined if it is valid. */
export function tokenProblem(authorization: string | undefined, secret: Uint8Array): string | undefined {
  const [, header, claims, sign] = /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(authorization ?? "") ?? [];
  if (!header || !claims || !sign) return "There is no token.";
  const given = Buffer.from(sign, "base64url");
  const right = signature(`${header}.${claims}`, secret);
  if (given.length !== right.length || !timingSafeEqual(given, right)) return "The token's signature is wrong.";
  const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString());
  if (read(header).alg !== HEADER.alg) return `The token's algorithm is not ${HEADER.alg}.`;
  const { iat } = read(claims);
  if (typeof iat !== "number") return "The token does not say when it was issued.";
  if (Math.abs(Date.now() / 1000 - iat) > MAX_DRIFT_SECONDS) return "The token was not issued just now.";
  return undefined;
}
