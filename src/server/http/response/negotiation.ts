import { HttpError } from "../http-error.ts";

export const MEDIA_TYPES = { json: "application/json", ssz: "application/octet-stream" } as const;

/** Encoding of a request or response body. */
export type Format = keyof typeof MEDIA_TYPES;

interface OfferedFormats {
  readonly responseFormats: readonly Format[];
  readonly prefersFirst?: boolean;
}

/**
 * Selects the response format with the highest quality value. If there is a tie, the first acceptable format wins. With
 * `prefersFirst`, the first acceptable format always wins.
 */
export function chooseFormat(
  accept: string | undefined,
  { responseFormats: formats, prefersFirst }: OfferedFormats,
): Format {
  const first = formats[0]!;
  // Fast path for the most common headers.
  if (accept === undefined || accept === MEDIA_TYPES[first] || accept === "*/*" || accept.trim() === "") return first;
  const preferences = parsePreferences(accept);
  let best: { format: Format; quality: number } | undefined;
  for (const format of formats) {
    const quality = qualityOf(MEDIA_TYPES[format], preferences);
    if (quality > (best?.quality ?? 0)) best = { format, quality };
    if (best && prefersFirst) break;
  }
  if (best === undefined) {
    throw new HttpError(406, `The response is ${named(formats)}, which the Accept header does not allow.`);
  }
  return best.format;
}

/** Returns true if the Accept header allows the media type. */
export function accepts(mediaType: string, accept: string | undefined): boolean {
  return accept === undefined || accept.trim() === "" || qualityOf(mediaType, parsePreferences(accept)) > 0;
}

/** Returns the format of a request body according to its Content-Type. */
export function bodyFormat(contentType: string | undefined, formats: readonly Format[]): Format {
  const mediaType = mediaTypeOf(contentType);
  const format = formats.find((each) => MEDIA_TYPES[each] === mediaType);
  if (format === undefined) {
    throw new HttpError(415, `The Content-Type header must be ${named(formats)}.`);
  }
  return format;
}

/** Throws an `HttpError` if the request body is compressed. */
export function requirePlainBody(contentEncoding: string | undefined): void {
  if (contentEncoding === undefined) return;
  const encodings = contentEncoding.split(",").map((encoding) => encoding.trim().toLowerCase());
  if (encodings.every((encoding) => encoding === "" || encoding === "identity")) return;
  throw new HttpError(415, "Compressed request bodies are not supported. Remove the Content-Encoding header.", {
    "Accept-Encoding": "identity",
  });
}

/** Returns the media type from a Content-Type header, without parameters. */
export function mediaTypeOf(contentType = ""): string {
  // Fast path for the most common header.
  if (contentType === MEDIA_TYPES.json) return contentType;
  return contentType.split(";", 1)[0]!.trim().toLowerCase();
}

/** Returns true if gzip is acceptable and identity is not preferred. */
export function prefersGzip(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined) return false;
  const preferences = parsePreferences(acceptEncoding);
  const gzip = preferences.find(({ name }) => name === "gzip" || name === "x-gzip");
  const chosen = gzip ?? preferences.find(({ name }) => name === "*");
  const plain = preferences.find(({ name }) => name === "identity");
  return chosen !== undefined && chosen.quality > 0 && chosen.quality >= (plain?.quality ?? 0);
}

/** An element of an Accept or Accept-Encoding header (RFC 9110, section 12.4.2). */
interface Preference {
  /** In lower case, without parameters. */
  name: string;
  /** From 0 (not acceptable) to 1. */
  quality: number;
}

/** Parses a header with quality values. Skips malformed elements. */
function parsePreferences(header: string): Preference[] {
  const preferences: Preference[] = [];
  for (const element of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = element.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => /^q\s*=/.test(parameter));
    const quality = weight === undefined ? 1 : Number(weight.slice(weight.indexOf("=") + 1).trim() || Number.NaN);
    if (name !== "" && quality >= 0 && quality <= 1) preferences.push({ name, quality });
  }
  return preferences;
}

/** Returns the quality of the most specific range that matches (RFC 9110, section 12.5.1). */
function qualityOf(mediaType: string, preferences: Preference[]): number {
  for (const range of [mediaType, `${mediaType.split("/", 1)[0]}/*`, "*/*"]) {
    const preference = preferences.find(({ name }) => name === range);
    if (preference) return preference.quality;
  }
  return 0;
}

function named(formats: readonly Format[]): string {
  return formats.map((format) => MEDIA_TYPES[format]).join(" or ");
}
