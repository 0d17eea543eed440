import fc from "fast-check";

type Path = readonly (string | number)[];
type Holder = Record<string | number, unknown>;

/** Boundary values. */
const BORDERS: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  -0,
  1.5,
  1e21,
  2 ** 53 - 1,
  2 ** 53,
  64,
  599,
  "",
  "0",
  "-1",
  "01",
  "18446744073709551615",
  "18446744073709551616",
  "2305843009213693951",
  `${2n ** 256n - 1n}`,
  "head",
  "genesis",
  "finalized",
  "justified",
  "latest",
  "pending",
  "earliest",
  "0x0",
  "0x1",
  "0xffffffffffffffff",
  "0x10000000000000000",
  `0x${"00".repeat(20)}`,
  `0x${"00".repeat(19)}0a`,
  "0x",
  "0x00",
  `0x${"00".repeat(32)}`,
  `0x${"ff".repeat(32)}`,
  `0x${"00".repeat(48)}`,
  `0xc0${"00".repeat(47)}`,
  `0x${"00".repeat(96)}`,
  `0xc0${"00".repeat(95)}`,
  `0x${"ff".repeat(96)}`,
  [],
  [[]],
  {},
];

/** An edit of one position in a parameter list. */
export interface Edit {
  /** Selects the position in any list. */
  place: number;
  change:
    | { kind: "replace"; by: unknown }
    | { kind: "remove" }
    | { kind: "repeat"; times: number }
    | { kind: "cut"; at: number }
    | { kind: "character"; at: number; by: string }
    | { kind: "add"; by: number };
}

export const edit: fc.Arbitrary<Edit> = fc.record({
  place: fc.nat(),
  change: fc.oneof(
    fc.record({ kind: fc.constant("replace" as const), by: fc.constantFrom(...BORDERS) }),
    fc.record({ kind: fc.constant("replace" as const), by: fc.jsonValue({ maxDepth: 1 }) }),
    fc.record({ kind: fc.constant("remove" as const) }),
    fc.record({ kind: fc.constant("repeat" as const), times: fc.integer({ min: 1, max: 40 }) }),
    fc.record({ kind: fc.constant("cut" as const), at: fc.nat() }),
    fc.record({
      kind: fc.constant("character" as const),
      at: fc.nat(),
      by: fc.constantFrom(..."0123456789abcdefABCDEFxz- é"),
    }),
    fc.record({ kind: fc.constant("add" as const), by: fc.constantFrom(-9, -8, -1, 1, 8, 9, 100) }),
  ),
});

/** A copy of the parameters with the edits applied in order. */
export function edited(params: readonly unknown[], edits: readonly Edit[]): unknown[] {
  const copy = structuredClone(params) as unknown[];
  for (const each of edits) apply(copy, each);
  return copy;
}

function apply(params: unknown[], { place, change }: Edit): void {
  const paths = [...pathsOf(params, [])];
  const path = paths[place % paths.length];
  if (path === undefined) {
    if (change.kind === "replace") params.push(structuredClone(change.by));
    return;
  }
  let holder = params as unknown as Holder;
  for (const step of path.slice(0, -1)) holder = holder[step] as Holder;
  const name = path.at(-1)!;
  const value = holder[name];
  if (change.kind === "remove") remove(holder, name);
  else if (change.kind === "replace") holder[name] = structuredClone(change.by);
  else if (change.kind === "repeat") repeat(holder, name, change.times);
  else holder[name] = alter(value, change);
}

function* pathsOf(value: unknown, path: Path): Generator<Path> {
  if (path.length > 0) yield path;
  if (typeof value !== "object" || value === null) return;
  for (const name of Object.keys(value)) {
    yield* pathsOf((value as Holder)[name], [...path, Array.isArray(value) ? Number(name) : name]);
  }
}

function remove(holder: Holder, name: string | number): void {
  if (Array.isArray(holder)) holder.splice(Number(name), 1);
  else delete holder[name];
}

/** Duplicates a list element, or extends a text or list. */
function repeat(holder: Holder, name: string | number, times: number): void {
  const value = holder[name];
  if (Array.isArray(holder)) holder.push(...Array(times).fill(value));
  else if (Array.isArray(value))
    holder[name] = Array(times + 1)
      .fill(value)
      .flat();
  else if (typeof value === "string") holder[name] = value.repeat(times + 1);
}

function alter(value: unknown, change: Extract<Edit["change"], { kind: "cut" | "character" | "add" }>): unknown {
  if (change.kind === "add") {
    const isNumeric =
      typeof value === "number" || (typeof value === "string" && /^(\d{1,15}|0x[0-9a-f]{1,12})$/.test(value));
    if (!isNumeric) return value;
    const sum = Number(value) + change.by;
    if (typeof value === "number") return sum;
    return value.startsWith("0x") ? `0x${sum.toString(16)}` : String(sum);
  }
  if (typeof value !== "string" || value.length === 0) return value;
  const at = change.at % value.length;
  return change.kind === "cut" ? value.slice(0, at) : value.slice(0, at) + change.by + value.slice(at + 1);
}
