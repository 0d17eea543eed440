import { withoutCredentials } from "./flag-values.ts";

const MAX_SHOWN_LENGTH = 80;

/** Describes the type of a value in a config file. Texts are not shown, since they may be secrets. */
export function describeValue(value: unknown): string {
  if (value === "" || value === null || value === undefined) return "an empty value";
  if (Array.isArray(value)) return "a list";
  if (value instanceof Date) return "a date";
  if (typeof value === "object") return "a map";
  return typeof value === "string" ? "a text" : String(value);
}

/** Shows a text of a config file without credentials. */
export function shownText(text: string): string {
  const shown = withoutCredentials(text);
  return `"${shown.length > MAX_SHOWN_LENGTH ? `${shown.slice(0, MAX_SHOWN_LENGTH)}…` : shown}"`;
}

/** Converts the message of a `FlagValueError` to continue a place: `must be true or false, got "yes"`. */
export function valueProblem(message: string, text: string): string {
  const predicate = /^it (?=must |is |has )/;
  if (message.startsWith("it has ")) return message.replace(predicate, "");
  if (!predicate.test(message)) return `is not accepted: ${message}, got ${shownText(text)}`;
  const problem = message.replace(predicate, "");
  if (problem.endsWith("it is empty")) return problem;
  return `${problem}, got ${text === "" ? "an empty value" : shownText(text)}`;
}
