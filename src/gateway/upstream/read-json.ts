/** The member of what may be an object. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** Some upstreams write numbers as they are, where the standard writes texts. */
export function integerOf(value: unknown, name: string): number {
  const number = Number(memberOf(value, name) ?? Number.NaN);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new Error(`The member ${name} is no whole number.`);
}

/** In lower case, so that roots can be compared. */
export function rootOf(value: unknown, name: string): string {
  const found = memberOf(value, name);
  if (typeof found === "string" && /^0x[0-9a-f]{64}$/i.test(found)) return found.toLowerCase();
  throw new Error(`The member ${name} is no root.`);
}
