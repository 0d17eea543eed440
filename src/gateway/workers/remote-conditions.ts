import type { Condition, Conditions } from "../condition.ts";
import type { WorkerOrder } from "./protocol.ts";

type KnownToWorker = Pick<WorkerOrder, "conditions" | "floor" | "rewinds">;

/** What the primary process knows of the upstreams, as it was last told. */
export class RemoteConditions implements Conditions {
  readonly #onRaised: () => void;
  readonly #listeners = new Set<() => void>();
  #all: readonly Condition[];
  #byName: ReadonlyMap<string, Condition>;
  #floor: number;
  #rewinds: number;

  /** `onRaised` is called when somebody here was told of a newer head. */
  constructor({ conditions, floor, rewinds }: KnownToWorker, onRaised: () => void) {
    this.#onRaised = onRaised;
    this.#all = conditions;
    this.#byName = byName(conditions);
    this.#floor = floor;
    this.#rewinds = rewinds;
  }

  get all(): readonly Condition[] {
    return this.#all;
  }

  of(upstream: string): Condition {
    const condition = this.#byName.get(upstream);
    if (condition === undefined) throw new Error(`There is no upstream that is called ${upstream}.`);
    return condition;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get floor(): number {
    return this.#floor;
  }

  raiseFloor(slot: number): void {
    if (slot <= this.#floor) return;
    this.#floor = slot;
    this.#onRaised();
    this.#tell();
  }

  /** They are others now. */
  replace(conditions: readonly Condition[]): void {
    this.#all = conditions;
    this.#byName = byName(conditions);
    this.#tell();
  }

  /** What this process has told a client may not have come to the primary yet, so that only a floor that was let go sinks. */
  takeFloor(slot: number, isLetGo: boolean): void {
    if (slot === this.#floor || (slot < this.#floor && !isLetGo)) return;
    this.#floor = slot;
    this.#tell();
  }

  get rewinds(): number {
    return this.#rewinds;
  }

  takeRewinds(count: number): void {
    this.#rewinds = count;
    this.#tell();
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

function byName(conditions: readonly Condition[]): ReadonlyMap<string, Condition> {
  return new Map(conditions.map((condition) => [condition.upstream, condition]));
}
