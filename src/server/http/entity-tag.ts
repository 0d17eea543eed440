import { createHash } from "node:crypto";

/** Weak, because the same answer may be sent compressed or not (RFC 9110, section 8.8.1). */
export function entityTag(content: Buffer | string): string {
  return `W/"${createHash("sha256").update(content).digest("base64url").slice(0, 27)}"`;
}

/** Whether a header If-None-Match names the tag itself, and not just any. */
export function namesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  const opaque = (text: string) => text.trim().replace(/^W\//, "");
  return ifNoneMatch?.split(",").some((each) => opaque(each) === opaque(tag)) ?? false;
}
