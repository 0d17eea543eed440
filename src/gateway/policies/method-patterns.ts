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
  const matches = wildcardMatcher(pattern);
  return ({ name, aliases = [] }) => matches(name) || aliases.some(matches);
}

/** Matches in linear time, unlike a regular expression, which backtracks exponentially in the number of `*`. */
function wildcardMatcher(pattern: string): (name: string) => boolean {
  const [prefix = "", ...parts] = pattern.split("*");
  const suffix = parts.pop();
  if (suffix === undefined) return (name) => name === pattern;
  return (name) => {
    if (!name.startsWith(prefix) || !name.endsWith(suffix)) return false;
    let end = prefix.length;
    for (const part of parts) {
      const at = name.indexOf(part, end);
      if (at === -1) return false;
      end = at + part.length;
    }
    return end + suffix.length <= name.length;
  };
}
