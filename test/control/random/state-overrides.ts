import type { Hex } from "./json.ts";

/** A change of an account by one of the methods `anvil_set…`. */
export interface Override {
  id: number;
  /** Slot of the clock. Blocks of later slots apply the change. */
  slot: number;
  kind: "balance" | "nonce" | "code" | `storage ${Hex}`;
  address: Hex;
  value: bigint | Hex;
}

/** Expected overrides of a chain, all branches together. */
export class StateOverrides {
  readonly #all: Override[];

  constructor(all: readonly Override[] = []) {
    this.#all = [...all];
  }

  add(override: Omit<Override, "id">): void {
    this.#all.push({ ...override, id: this.#all.length });
  }

  /** Overrides that a block records, by the ids that its ancestors recorded. */
  ofBlock(slot: number, recorded: ReadonlySet<number>): Override[] {
    return this.#all.filter((override) => override.slot < slot && !recorded.has(override.id));
  }

  /** Overrides that wait for the next block. */
  pending(recorded: ReadonlySet<number>): Override[] {
    return this.ofBlock(Number.POSITIVE_INFINITY, recorded);
  }

  wasNonceSet(address: Hex): boolean {
    return this.#all.some((override) => override.kind === "nonce" && override.address === address);
  }

  copy(): StateOverrides {
    return new StateOverrides(this.#all);
  }
}

/** The last value of each field, by kind and address. */
export function lastOfEach(overrides: readonly Override[]): Override[] {
  return [...new Map(overrides.map((override) => [`${override.kind} ${override.address}`, override])).values()];
}
