/** Adds up the time spent in methods, by label. */
export class Stopwatch {
  #laps = new Map<string, number>();

  /** Returns milliseconds by label since the last call. */
  lap(): Map<string, number> {
    const laps = this.#laps;
    this.#laps = new Map();
    return laps;
  }

  /** Times every call of a method, until its promise settles if it returns one. Returns a function that restores it. */
  time<T extends object>(object: T, name: keyof T, label: string): () => void {
    const method = object[name];
    if (typeof method !== "function") throw new TypeError(`"${String(name)}" is not a method.`);
    const isOwn = Object.hasOwn(object, name);
    const stopwatch = this;
    const timed = function (this: unknown, ...args: unknown[]): unknown {
      const start = performance.now();
      const result: unknown = Reflect.apply(method, this, args);
      if (result instanceof Promise) return result.finally(() => stopwatch.#add(label, performance.now() - start));
      stopwatch.#add(label, performance.now() - start);
      return result;
    };
    Object.defineProperty(object, name, { value: timed, configurable: true, writable: true });
    return () => {
      if (isOwn) Object.defineProperty(object, name, { value: method, configurable: true, writable: true });
      else Reflect.deleteProperty(object, name);
    };
  }

  #add(label: string, milliseconds: number): void {
    this.#laps.set(label, (this.#laps.get(label) ?? 0) + milliseconds);
  }
}
