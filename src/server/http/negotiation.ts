import { parsePreferences } from "../rest/accept-quality.ts";
import { RestRefusal } from "./refusal.ts";

export const MEDIA_TYPES = { json: "application/json", ssz: "application/octet-stream" } as const;

export type Format = keyof typeof MEDIA_TYPES;

/** The form of the answer that suits the caller best; of two that suit as well, the one that is named first here. */
export function chooseFormat(accept: string | undefined, formats: readonly Format[]): Format {
  if (accept === undefined || accept.trim() === "") return formats[0]!;
  const preferences = parsePreferences(accept);
  let best: { format: Format; quality: number } | undefined;
  for (const format of formats) {
    const quality = qualityOf(MEDIA_TYPES[format], preferences);
    if (quality > (best?.quality ?? 0)) best = { format, quality };
  }
  if (best === undefined) {
    throw new RestRefusal(406, `The answer is ${named(formats)}, which the header Accept does not allow.`);
  }
  return best.format;
}

/** The form of a request's body; a request without one has none to name. */
export function bodyFormat(contentType: string | undefined, formats: readonly Format[]): Format {
  const mediaType = contentType?.split(";", 1)[0]?.trim().toLowerCase();
  const format = formats.find((each) => MEDIA_TYPES[each] === mediaType);
  if (format === undefined) {
    throw new RestRefusal(415, `The body must be ${named(formats)}, as the header Content-Type has to say.`);
  }
  return format;
}

/** The most specific range that covers the type decides (RFC 9110, section 12.5.1). */
function qualityOf(mediaType: string, preferences: ReturnType<typeof parsePreferences>): number {
  for (const range of [mediaType, "application/*", "*/*"]) {
    const preference = preferences.find(({ name }) => name === range);
    if (preference) return preference.quality;
  }
  return 0;
}

function named(formats: readonly Format[]): string {
  return formats.map((format) => MEDIA_TYPES[format]).join(" or ");
}
