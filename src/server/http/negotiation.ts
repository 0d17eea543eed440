import { HttpRefusal } from "./refusal.ts";

export const MEDIA_TYPES = { json: "application/json", ssz: "application/octet-stream" } as const;

/** A form that answers and bodies can have. */
export type Format = keyof typeof MEDIA_TYPES;

interface OfferedFormats {
  readonly answers: readonly Format[];
  readonly prefersFirst?: boolean;
}

/** The form of the answer that suits the caller best; of two that suit as well, or if that is preferred, the first that suits. */
export function chooseFormat(accept: string | undefined, { answers: formats, prefersFirst }: OfferedFormats): Format {
  const first = formats[0]!;
  // Most say just this, or nothing.
  if (accept === undefined || accept === MEDIA_TYPES[first] || accept === "*/*" || accept.trim() === "") return first;
  const preferences = parsePreferences(accept);
  let best: { format: Format; quality: number } | undefined;
  for (const format of formats) {
    const quality = qualityOf(MEDIA_TYPES[format], preferences);
    if (quality > (best?.quality ?? 0)) best = { format, quality };
    if (best && prefersFirst) break;
  }
  if (best === undefined) {
    throw new HttpRefusal(406, `The answer is ${named(formats)}, which the header Accept does not allow.`);
  }
  return best.format;
}

/** Whether an answer of this media type suits the caller. */
export function accepts(mediaType: string, accept: string | undefined): boolean {
  return accept === undefined || accept.trim() === "" || qualityOf(mediaType, parsePreferences(accept)) > 0;
}

/** The form of a request's body. */
export function bodyFormat(contentType: string | undefined, formats: readonly Format[]): Format {
  const mediaType = mediaTypeOf(contentType);
  const format = formats.find((each) => MEDIA_TYPES[each] === mediaType);
  if (format === undefined) {
    throw new HttpRefusal(415, `The body must be ${named(formats)}, as the header Content-Type has to say.`);
  }
  return format;
}

/** Throws for a request whose header Content-Encoding says that its body cannot be read as it comes. */
export function requirePlainBody(contentEncoding: string | undefined): void {
  if (contentEncoding === undefined) return;
  const encodings = contentEncoding.split(",").map((encoding) => encoding.trim().toLowerCase());
  if (encodings.every((encoding) => encoding === "" || encoding === "identity")) return;
  throw new HttpRefusal(415, "Request bodies are read uncompressed: leave out the header Content-Encoding.", {
    "Accept-Encoding": "identity",
  });
}

/** What a header Content-Type names, without its parameters. */
export function mediaTypeOf(contentType = ""): string {
  // Most are written so.
  if (contentType === MEDIA_TYPES.json) return contentType;
  return contentType.split(";", 1)[0]!.trim().toLowerCase();
}

/** Whether gzip suits the caller, and what is not compressed suits it no better. */
export function prefersGzip(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined) return false;
  const preferences = parsePreferences(acceptEncoding);
  const gzip = preferences.find(({ name }) => name === "gzip" || name === "x-gzip");
  const chosen = gzip ?? preferences.find(({ name }) => name === "*");
  const plain = preferences.find(({ name }) => name === "identity");
  return chosen !== undefined && chosen.quality > 0 && chosen.quality >= (plain?.quality ?? 0);
}

/** One element of a header such as Accept or Accept-Encoding (RFC 9110, section 12.4.2). */
interface Preference {
  /** In lower case, without parameters. */
  name: string;
  /** From 0, which means "not this", to 1. */
  quality: number;
}

/** The elements of a header with quality values; those that cannot be read are left out. */
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

/** The most specific range that covers the type decides (RFC 9110, section 12.5.1). */
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
