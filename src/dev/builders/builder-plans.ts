import type { BuilderIndex, Slot } from "@lodestar/types";
import type { LastBid } from "../../api/builder-control.ts";
import type { AffectedSlots } from "../../api/payload-control.ts";

interface BidPlan {
  readonly value: number;
  /** True to sign a second bid for each slot. */
  readonly equivocates: boolean;
}

/** What a builder does in the next slots, and its last bid. */
export interface BuilderPlan {
  readonly bid?: AffectedSlots & BidPlan;
  readonly withhold?: AffectedSlots;
  readonly lastBid?: LastBid;
}

export const isDue = (slots: AffectedSlots | undefined, slot: Slot): boolean =>
  slots !== undefined && slots.fromSlot <= slot && slot < slots.untilSlot;

/** Plans of builders. Kept in memory only. */
export class BuilderPlans {
  #plans: ReadonlyMap<BuilderIndex, BuilderPlan> = new Map();

  of(builder: BuilderIndex): BuilderPlan {
    return this.#plans.get(builder) ?? {};
  }

  update(builder: BuilderIndex, changes: BuilderPlan): void {
    this.#plans = new Map(this.#plans).set(builder, { ...this.of(builder), ...changes });
  }

  /** Returns the bids for a slot. */
  bidsAt(slot: Slot): (BidPlan & { builder: BuilderIndex })[] {
    return [...this.#plans].flatMap(([builder, { bid }]) => (bid && isDue(bid, slot) ? [{ ...bid, builder }] : []));
  }

  /** True if a builder withholds the payload of the slot or a later one. */
  withholdSince(slot: Slot): boolean {
    return [...this.#plans.values()].some(({ withhold }) => withhold !== undefined && withhold.untilSlot > slot);
  }

  clear(): void {
    this.#plans = new Map();
  }

  capture(): () => void {
    const plans = this.#plans;
    return () => {
      this.#plans = plans;
    };
  }
}
