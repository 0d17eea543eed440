/** One element of a header such as Accept or Accept-Encoding (RFC 9110, section 12.4.2). */
export interface Preference {
  /** In lower case, without parameters. */
  name: string;
  /** From 0, which means "not this", to 1. */
  quality: number;
}

/** The elements of a header with quality values; those that cannot be read are left out. */
export function parsePreferences(header: string): Preference[] {
  const preferences: Preference[] = [];
  for (const element of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = element.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => /^q\s*=/.test(parameter));
    const quality = weight === undefined ? 1 : Number(weight.slice(weight.indexOf("=") + 1).trim() || Number.NaN);
    if (name !== "" && quality >= 0 && quality <= 1) preferences.push({ name, quality });
  }
  return preferences;
}
