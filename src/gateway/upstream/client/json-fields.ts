/** Returns a member of a value that may not be an object. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** Reads a non-negative integer member. Accepts numbers too, although the Beacon API specifies decimal strings. */
export function integerOf(value: unknown, name: string): number {
  const number = Number(memberOf(value, name) ?? Number.NaN);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new Error(`"${name}" must be a non-negative integer.`);
}

/** Reads a root in lowercase, so that roots can be compared. */
export function rootOf(value: unknown, name: string): string {
  const root = memberOf(value, name);
  if (typeof root === "string" && /^0x[0-9a-f]{64}$/i.test(root)) return root.toLowerCase();
  throw new Error(`"${name}" must be a 32-byte hex root.`);
}
