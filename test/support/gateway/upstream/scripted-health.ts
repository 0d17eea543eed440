import type { HealthTracker, UpstreamHealth } from "../../../../src/gateway/upstream/upstream-health.ts";

/** Health that a test sets. */
export class ScriptedHealth implements HealthTracker {
  readonly #health = new Map<string, UpstreamHealth>();
  readonly #listeners = new Set<() => void>();
  headFloor = 0;
  finalityReverts = 0;

  constructor(...upstreams: string[]) {
    for (const upstream of upstreams) this.set(upstream, {});
  }

  get all(): readonly UpstreamHealth[] {
    return [...this.#health.values()];
  }

  /** Sets all of the health, by default ready with the head at slot 100. */
  set(upstream: string, { headSlot = 100, ...given }: Partial<UpstreamHealth> & { headSlot?: number }): void {
    const head = { slot: headSlot, root: `0x${headSlot.toString(16).padStart(64, "0")}` };
    this.#health.set(upstream, { upstream, state: "ready", reasons: [], head, ...given });
    for (const listener of [...this.#listeners]) listener();
  }

  /** Sets only what is given. */
  change(upstream: string, changes: Partial<UpstreamHealth>): void {
    this.set(upstream, { ...this.of(upstream), ...changes });
  }

  of(upstream: string): UpstreamHealth {
    return this.#health.get(upstream)!;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  raiseHeadFloor(slot: number): void {
    this.headFloor = Math.max(this.headFloor, slot);
  }
}
