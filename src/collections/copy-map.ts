export function copyMap<K, V>(map: ReadonlyMap<K, V>, copyValue: (value: V) => V): Map<K, V> {
  return new Map(Array.from(map, ([key, value]) => [key, copyValue(value)]));
}
