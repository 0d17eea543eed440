export function copyOfMap<K, V>(map: ReadonlyMap<K, V>, copyOf: (value: V) => V): Map<K, V> {
  return new Map(Array.from(map, ([key, value]) => [key, copyOf(value)]));
}
