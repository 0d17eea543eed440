import { nearestFlag } from "./did-you-mean.ts";
import { withoutCredentials } from "./flag-values.ts";

const MAX_SHOWN_LENGTH = 80;

/** Describes a value of the wrong type in a config file. Strings may be secrets, so only short numbers are shown. */
export function describeValue(value: unknown): string {
  if (value === "" || value === null || value === undefined) return "an empty value";
  if (Array.isArray(value)) return "a list";
  if (value instanceof Date) return "a date";
  if (typeof value === "object") return "a map";
  return typeof value === "string" && !/^\d{1,9}$/.test(value) ? "a text" : String(value);
}

/** A URL up to its host and the next character. Does not match a network such as 10.0.0.0/8. */
const URL_START =
  /(?:[a-z][a-z0-9+.-]*:\/+|\/\/+)(?!\/)[^\s/?#,]+[\s/?#,]|^(?!\w+:\/)[\w[\]-]*[.:@][\w.:@[\]-]*[/?#](?!\d{1,3}$)/i;

/** Quotes a text without the parts that may be secrets: truncates it after the host of a URL. */
export function shownText(text: string): string {
  const safeText = withoutCredentials(text);
  const start = URL_START.exec(safeText);
  const end = Math.min(start === null ? safeText.length : start.index + start[0].length, MAX_SHOWN_LENGTH);
  return `"${safeText.slice(0, end)}${end < safeText.length ? "…" : ""}"`;
}

/**
 * Returns the setting with the name most similar to an unknown key, even if the space after the key's colon is missing.
 */
export function nearestSetting(key: string, known: Iterable<string>): string | undefined {
  return nearestFlag(key.split(/[:=\s]/)[0]!, known);
}

/** Returns false for an unknown key that may be a secret, such as in `{ token:SECRET }`. */
export function isShownKey(key: string, nearest: string | undefined): boolean {
  return nearest === undefined ? /^[a-z][a-z_-]{1,39}$/i.test(key) : /^[\w-]+$/.test(key);
}

/** Converts the message of a `FlagValueError` to a predicate such as `must be true or false, got "yes"`. */
export function valueProblem(message: string, text: string): string {
  const predicate = /^it (?=must |is |has )/;
  if (message.startsWith("it has ")) return message.replace(predicate, "");
  if (!predicate.test(message)) return `is not accepted: ${message}, got ${shownText(text)}`;
  const problem = message.replace(predicate, "");
  if (problem.endsWith("it is empty")) return problem;
  return `${problem}, got ${text === "" ? "an empty value" : shownText(text)}`;
}
