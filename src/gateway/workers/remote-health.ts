import { type HealthTracker, removedHealth, type UpstreamHealth } from "../upstream/upstream-health.ts";
import type { WorkerConfig } from "./protocol.ts";

type HealthSnapshot = Pick<WorkerConfig, "health" | "headFloor" | "finalityReverts">;

/** Health of the upstreams in a worker, as last sent by the primary process. */
export class RemoteHealth implements HealthTracker {
  readonly #onHeadFloorRaised: () => void;
  readonly #listeners = new Set<() => void>();
  #all: readonly UpstreamHealth[];
  #byName: ReadonlyMap<string, UpstreamHealth>;
  #headFloor: number;
  #finalityReverts: number;

  /** `onHeadFloorRaised` is called when a client of this worker sees a newer head. */
  constructor({ health, headFloor, finalityReverts }: HealthSnapshot, onHeadFloorRaised: () => void) {
    this.#onHeadFloorRaised = onHeadFloorRaised;
    this.#all = health;
    this.#byName = byName(health);
    this.#headFloor = headFloor;
    this.#finalityReverts = finalityReverts;
  }

  get all(): readonly UpstreamHealth[] {
    return this.#all;
  }

  of(upstream: string): UpstreamHealth {
    return this.#byName.get(upstream) ?? removedHealth(upstream);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get headFloor(): number {
    return this.#headFloor;
  }

  raiseHeadFloor(slot: number): void {
    if (slot <= this.#headFloor) return;
    this.#headFloor = slot;
    this.#onHeadFloorRaised();
    this.#notify();
  }

  updateHealth(health: readonly UpstreamHealth[]): void {
    this.#all = health;
    this.#byName = byName(health);
    this.#notify();
  }

  /**
   * Ignores a lower floor unless it was lowered on purpose: this worker's own floor may not have reached the primary
   * yet.
   */
  updateHeadFloor(slot: number, isLowered: boolean): void {
    if (slot === this.#headFloor || (slot < this.#headFloor && !isLowered)) return;
    this.#headFloor = slot;
    this.#notify();
  }

  get finalityReverts(): number {
    return this.#finalityReverts;
  }

  updateFinalityReverts(count: number): void {
    this.#finalityReverts = count;
    this.#notify();
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

function byName(health: readonly UpstreamHealth[]): ReadonlyMap<string, UpstreamHealth> {
  return new Map(health.map((upstreamHealth) => [upstreamHealth.upstream, upstreamHealth]));
}
