/** A place in a JSON value, such as `data.validators[3].balance`, and what two upstreams have there. */
export interface PlaceOfDifference {
  readonly path: string;
  /** Undefined where there is nothing. */
  readonly first: unknown;
  readonly second: unknown;
}

/** Where two JSON values differ, in the order of the first one's members. The order of members and the case of hex digits are ignored. */
export function* differences(first: unknown, second: unknown, path = "data"): Generator<PlaceOfDifference> {
  if (first === second || isSameHex(first, second)) return;
  if (Array.isArray(first) && Array.isArray(second)) {
    for (let place = 0; place < Math.max(first.length, second.length); place++) {
      yield* differences(first[place], second[place], `${path}[${place}]`);
    }
  } else if (isObject(first) && isObject(second)) {
    for (const name of new Set([...Object.keys(first), ...Object.keys(second)])) {
      yield* differences(first[name], second[name], `${path}.${name}`);
    }
  } else {
    yield { path, first, second };
  }
}

/** Only what both have: not all list the same constants. */
export function sharedMembers(first: unknown, second: unknown): [unknown, unknown] {
  if (!isObject(first) || !isObject(second)) return [first, second];
  const shared = Object.keys(first).filter((name) => Object.hasOwn(second, name));
  const of = (value: Record<string, unknown>) => Object.fromEntries(shared.map((name) => [name, value[name]]));
  return [of(first), of(second)];
}

/** Hexadecimal digits mean the same in either case: some clients write addresses with a checksum (EIP-55). */
function isSameHex(first: unknown, second: unknown): boolean {
  if (typeof first !== "string" || typeof second !== "string") return false;
  return HEX.test(first) && first.toLowerCase() === second.toLowerCase();
}

const HEX = /^0x[0-9a-f]*$/i;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
