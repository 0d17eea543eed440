import { isJsonObject } from "./json-object.ts";

/** The path of a difference, such as `data.validators[3].balance`, and both values. */
export interface JsonDifference {
  readonly path: string;
  /** Undefined if missing. */
  readonly first: unknown;
  readonly second: unknown;
}

/** Yields the differences between two JSON values. Ignores the order of members and the case of hex digits. */
export function* diffJson(first: unknown, second: unknown, path = "data"): Generator<JsonDifference> {
  if (first === second || isSameHex(first, second)) return;
  if (Array.isArray(first) && Array.isArray(second)) {
    for (let index = 0; index < Math.max(first.length, second.length); index++) {
      yield* diffJson(first[index], second[index], `${path}[${index}]`);
    }
  } else if (isJsonObject(first) && isJsonObject(second)) {
    for (const name of new Set([...Object.keys(first), ...Object.keys(second)])) {
      yield* diffJson(first[name], second[name], `${path}.${name}`);
    }
  } else {
    yield { path, first, second };
  }
}

/** Keeps only the members that both objects have, since clients list different constants. */
export function pickSharedMembers(first: unknown, second: unknown): [unknown, unknown] {
  if (!isJsonObject(first) || !isJsonObject(second)) return [first, second];
  const shared = Object.keys(first).filter((name) => Object.hasOwn(second, name));
  const of = (value: Record<string, unknown>) => Object.fromEntries(shared.map((name) => [name, value[name]]));
  return [of(first), of(second)];
}

/** Some clients write addresses with a checksum (EIP-55). */
function isSameHex(first: unknown, second: unknown): boolean {
  if (typeof first !== "string" || typeof second !== "string") return false;
  return HEX.test(first) && first.toLowerCase() === second.toLowerCase();
}

const HEX = /^0x[0-9a-f]*$/i;
