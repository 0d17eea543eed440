import { parsePreferences } from "./accept-quality.ts";

/** Below this an answer fits into one packet either way. */
const WORTHWHILE_BYTES = 1400;

export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined) return false;
  const preferences = parsePreferences(acceptEncoding);
  const gzip = preferences.find(({ name }) => name === "gzip" || name === "x-gzip");
  const chosen = gzip ?? preferences.find(({ name }) => name === "*");
  return chosen !== undefined && chosen.quality > 0;
}

/** A stream is only made of answers that are large, or may be. */
export function isWorthCompressing(length: number | undefined): boolean {
  return length === undefined || length >= WORTHWHILE_BYTES;
}
