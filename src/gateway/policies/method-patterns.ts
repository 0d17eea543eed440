/** Name and aliases of a method. */
export interface NamedMethod {
  readonly name: string;
  readonly aliases?: readonly string[];
}

/**
 * Creates a predicate for methods whose name or alias matches a pattern of letters, digits, `_`, `.` and `*`, which
 * stands for any characters.
 */
export function methodMatcher(pattern: string): (method: NamedMethod) => boolean {
  const regex = new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
  return ({ name, aliases = [] }) => regex.test(name) || aliases.some((alias) => regex.test(alias));
}
