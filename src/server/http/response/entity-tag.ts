import { createHash } from "node:crypto";

/** Returns a weak ETag, because a response may be sent either compressed or uncompressed (RFC 9110, section 8.8.1). */
export function entityTag(content: Buffer | string): string {
  return `W/"${createHash("sha256").update(content).digest("base64url").slice(0, 27)}"`;
}

/** Returns true if If-None-Match contains the tag. "*" does not match. */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  const opaque = (text: string) => text.trim().replace(/^W\//, "");
  return ifNoneMatch?.split(",").some((each) => opaque(each) === opaque(tag)) ?? false;
}
