import type { Condition, Conditions } from "../condition.ts";

/** Conditions that the test sets. */
export class ScriptedConditions implements Conditions {
  readonly #conditions = new Map<string, Condition>();
  readonly #listeners = new Set<() => void>();
  floor = 0;
  rewinds = 0;

  constructor(upstreams: Iterable<string>) {
    for (const upstream of upstreams) this.#conditions.set(upstream, { upstream, fitness: "ready", reasons: [] });
  }

  get all(): readonly Condition[] {
    return [...this.#conditions.values()];
  }

  of(upstream: string): Condition {
    return this.#conditions.get(upstream)!;
  }

  set(upstream: string, changes: Partial<Condition>): void {
    this.#conditions.set(upstream, { ...this.of(upstream), ...changes });
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  raiseFloor(slot: number): void {
    this.floor = Math.max(this.floor, slot);
  }
}
