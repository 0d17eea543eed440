/** A key as a latin1 string: usable as a map key, and sorted like the bytes. */
export type Name = string;

/** Position in a sorted list: before or after a name. */
export interface Bound {
  name: Name;
  isAfter: boolean;
}

export const nameOf = (key: Uint8Array): Name => Buffer.from(key.buffer, key.byteOffset, key.length).toString("latin1");

export const keyOf = (name: Name): Uint8Array => new Uint8Array(Buffer.from(name, "latin1"));

/** Binary search: index of the first element whose name is at or after the bound. */
export function lowerBound<T>(sorted: readonly T[], nameAt: (element: T) => Name, { name, isAfter }: Bound): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    const candidate = nameAt(sorted[middle]!);
    const isBelow = isAfter ? candidate <= name : candidate < name;
    if (isBelow) from = middle + 1;
    else to = middle;
  }
  return from;
}
