import type { HealthTracker, UpstreamHealth } from "../../../../src/gateway/upstream/upstream-health.ts";

/** Health that a test sets. */
export class ScriptedHealth implements HealthTracker {
  readonly #health = new Map<string, UpstreamHealth>();
  readonly #listeners = new Set<() => void>();
  headFloor = 0;
  finalityReverts = 0;

  constructor(upstreams: Iterable<string>) {
    for (const upstream of upstreams) this.#health.set(upstream, { upstream, state: "ready", reasons: [] });
  }

  get all(): readonly UpstreamHealth[] {
    return [...this.#health.values()];
  }

  of(upstream: string): UpstreamHealth {
    return this.#health.get(upstream)!;
  }

  set(upstream: string, changes: Partial<UpstreamHealth>): void {
    this.#health.set(upstream, { ...this.of(upstream), ...changes });
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  raiseHeadFloor(slot: number): void {
    this.headFloor = Math.max(this.headFloor, slot);
  }
}
