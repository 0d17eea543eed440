export type Mistake = "count" | "type" | "form" | "range";

type Path = readonly (string | number)[];

/** Members that accept text as well as hex. */
const FREE_TEXT: readonly unknown[] = ["graffiti"];

/**
 * Variants of a chain object with one defect each: a missing member, or a value of the wrong type, format or range.
 * None for other values.
 */
export function* wrongPayloads(valid: unknown): Generator<{ mistake: Mistake; payload: unknown }> {
  if (!isObject(valid) && !(Array.isArray(valid) && valid.every(isObject))) return;
  for (const [path, value] of placesOf(valid, [])) {
    if (typeof path.at(-1) === "string") yield { mistake: "form", payload: changed(valid, path, undefined) };
    for (const wrong of wrongValues(path, value))
      yield { mistake: mistakeOf(wrong), payload: changed(valid, path, wrong) };
  }
}

function* placesOf(value: unknown, path: Path): Generator<[Path, unknown]> {
  if (path.length > 0) yield [path, value];
  if (Array.isArray(value)) {
    // The elements are all of one type.
    if (value.length > 0) yield* placesOf(value[0], [...path, 0]);
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) yield* placesOf(member, [...path, name]);
  }
}

function wrongValues(path: Path, value: unknown): unknown[] {
  if (Array.isArray(value)) return [null, {}, "0x00", [null]];
  if (isObject(value)) return [null, [], "0x00", 5];
  if (typeof value === "boolean") return [null, 1, "true"];
  if (FREE_TEXT.includes(path.at(-1))) return [null, {}, true, "a".repeat(33)];
  if (String(value).startsWith("0x")) return [null, {}, true, 5, "0x0", "0xzz", "zz", `${value}00zz`];
  return [null, {}, true, -1, 1.5, "-1", "01", "0x1", "", `${2n ** 256n}`];
}

function mistakeOf(wrong: unknown): Mistake {
  if (typeof wrong !== "string") return "type";
  return wrong === `${2n ** 256n}` ? "range" : "form";
}

/** A copy with another value at the path; undefined removes the member. */
function changed(root: unknown, path: Path, value: unknown): unknown {
  const copy = structuredClone(root);
  let holder = copy as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) holder = holder[step] as Record<string | number, unknown>;
  const last = path.at(-1)!;
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  return copy;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
