import type { Condition, Conditions } from "../condition.ts";

/** Conditions as the test sets them. */
export class SetConditions implements Conditions {
  readonly #conditions = new Map<string, Condition>();
  readonly #listeners = new Set<() => void>();
  floor = 0;
  rewinds = 0;

  constructor(...upstreams: string[]) {
    for (const upstream of upstreams) this.set(upstream, {});
  }

  get all(): readonly Condition[] {
    return [...this.#conditions.values()];
  }

  /** Ready with its head at slot 100, unless something else is said. */
  set(upstream: string, { headSlot = 100, ...condition }: Partial<Condition> & { headSlot?: number }): void {
    const head = { slot: headSlot, root: `0x${headSlot.toString(16).padStart(64, "0")}` };
    this.#conditions.set(upstream, { upstream, fitness: "ready", reasons: [], head, ...condition });
    for (const listener of [...this.#listeners]) listener();
  }

  of(upstream: string): Condition {
    return this.#conditions.get(upstream)!;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  raiseFloor(slot: number): void {
    this.floor = Math.max(this.floor, slot);
  }
}
