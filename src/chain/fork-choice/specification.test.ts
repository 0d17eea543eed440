import type { RootHex } from "@lodestar/types";
import fc from "fast-check";
import { expect, test } from "vitest";
import { EPOCH, GENESIS, makeBlock, makeForkChoice } from "./blocks.test-support.ts";
import { SpecStore } from "./spec-store.test-support.ts";
import type { Checkpoint, ForkChoiceBlock } from "./types.ts";

const VALIDATORS = 12;
const balances = Uint16Array.from({ length: VALIDATORS }, (_, index) => 32 + index * 7);

type Step =
  | { kind: "tick"; slots: number }
  | { kind: "block"; parent: number; back: number; justify: boolean; timely: boolean }
  | { kind: "vote"; block: number; validators: number[] }
  | { kind: "slash"; validator: number }
  | { kind: "prune" };

const pick = fc.nat({ max: 1000 });
const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant("tick" as const), slots: fc.integer({ min: 1, max: 5 }) }) },
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant("block" as const),
        parent: pick,
        back: fc.nat({ max: 3 }),
        justify: fc.boolean(),
        timely: fc.boolean(),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant("vote" as const),
        block: pick,
        validators: fc.uniqueArray(fc.nat({ max: VALIDATORS - 1 }), { minLength: 1, maxLength: 4 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant("slash" as const), validator: fc.nat({ max: VALIDATORS - 1 }) }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("prune" as const) }) },
  ),
  { minLength: 60, maxLength: 200, size: "max" },
);

/** Grows trees whose checkpoints are such as honest majorities make: one justified root an epoch, none beside finality. */
class BlockGenerator {
  readonly #store: SpecStore;
  readonly #justified: Checkpoint[] = [GENESIS];
  readonly #finalized: Checkpoint[] = [GENESIS];
  #lastId = 1;

  constructor(store: SpecStore) {
    this.#store = store;
  }

  next({ parent: parentPick, back, justify }: Extract<Step, { kind: "block" }>): ForkChoiceBlock | null {
    const candidates = [...this.#store.blocks.values()];
    // Recent parents are likelier, or trees would be all width and no depth.
    const parent = candidates[Math.max(0, candidates.length - 1 - (parentPick % 6))]!;
    const slot = Math.max(parent.slot + 1, this.#store.currentSlot - back);
    const finalized = this.#store.finalized;
    if (slot > this.#store.currentSlot || slot <= finalized.epoch * EPOCH) return null;
    if (this.#store.checkpointBlock(parent.root, finalized.epoch) !== finalized.root) return null;

    this.#lastId++;
    const epoch = Math.floor(slot / EPOCH);
    const crossed = epoch > Math.floor(parent.slot / EPOCH);
    const realized = {
      justified: crossed ? parent.unrealizedJustified : parent.justified,
      finalized: crossed ? parent.unrealizedFinalized : parent.finalized,
    };
    const block = makeBlock(this.#lastId * 7919, 0, slot, { ...realized, parentRoot: parent.root });
    const unrealized = justify ? this.#justify(parent, block.root, slot, epoch) : parent;
    return {
      ...block,
      unrealizedJustified: unrealized.unrealizedJustified,
      unrealizedFinalized: unrealized.unrealizedFinalized,
    };
  }

  #justify(parent: ForkChoiceBlock, blockRoot: RootHex, slot: number, epoch: number) {
    const checkpointRoot = slot === epoch * EPOCH ? blockRoot : this.#store.checkpointBlock(parent.root, epoch);
    const candidate = { epoch, root: checkpointRoot };
    // A checkpoint at the block itself would have to be attested to by the block; and descent is asked of known blocks.
    if (checkpointRoot === blockRoot || epoch <= parent.unrealizedJustified.epoch) return parent;
    if (this.#justified.some((other) => other.epoch === epoch && other.root !== checkpointRoot)) return parent;
    if (!this.#finalized.every((final) => this.#holds(final, candidate))) return parent;
    this.#justified.push(candidate);
    const source = parent.unrealizedJustified;
    const finalizes =
      source.epoch + 1 === epoch &&
      this.#justified.every((other) => other.epoch <= source.epoch || this.#holds(source, other));
    if (finalizes) this.#finalized.push(source);
    return {
      unrealizedJustified: candidate,
      unrealizedFinalized: finalizes ? source : parent.unrealizedFinalized,
    };
  }

  #holds(final: Checkpoint, descendant: Checkpoint): boolean {
    return this.#store.checkpointBlock(descendant.root, final.epoch) === final.root;
  }
}

test("head, weights, boost and checkpoints are those of the specification's own algorithm", () => {
  let finalizations = 0;
  let prunings = 0;
  let boosts = 0;
  fc.assert(
    fc.property(steps, (plan) => {
      const spec = new SpecStore(makeBlock(1, 0, 0), balances, EPOCH, 40);
      const forkChoice = makeForkChoice({ balances });
      const generator = new BlockGenerator(spec);
      for (const step of plan) {
        if (step.kind === "tick") {
          const slot = spec.currentSlot + step.slots;
          spec.onTick(slot);
          forkChoice.onTick(slot);
        } else if (step.kind === "block") {
          const block = generator.next(step);
          if (block === null) continue;
          spec.onBlock(block, step.timely);
          forkChoice.onBlock(block, { timely: step.timely });
          boosts += spec.boostedRoot === block.root ? 1 : 0;
        } else if (step.kind === "vote") {
          const known = [...forkChoice.all()].filter((block) => block.slot < spec.currentSlot);
          const target = known[step.block % Math.max(1, known.length)];
          if (target === undefined) continue;
          const slot = spec.currentSlot - 1;
          const targetEpoch = Math.floor(slot / EPOCH);
          spec.onAttestation(step.validators, targetEpoch, target.root);
          forkChoice.onAttestation({ indices: step.validators, slot, targetEpoch, blockRoot: target.root });
        } else if (step.kind === "slash") {
          spec.equivocating.add(step.validator);
          forkChoice.onAttesterSlashing([step.validator]);
        } else {
          prunings += forkChoice.prune().length > 0 ? 1 : 0;
        }
        expect(forkChoice.updateHead().root).toBe(spec.getHead());
        expect(forkChoice.justified).toEqual(spec.justified);
        expect(forkChoice.finalized).toEqual(spec.finalized);
        expect(forkChoice.proposerBoostRoot).toBe(spec.boostedRoot);
        // Pruning takes along branches that left the finalized block before its epoch began, and their votes with them,
        // which only the weight of that block, now the oldest, can tell.
        for (const block of [...forkChoice.all()].slice(1)) {
          expect(forkChoice.weightOf(block.root)).toBeCloseTo(spec.getWeight(block.root), 6);
        }
      }
      finalizations += spec.finalized.epoch > 0 ? 1 : 0;
    }),
    { numRuns: 100, seed: 20, endOnFailure: true },
  );
  // The comparison is worth something only if the plans reached the parts that are hard.
  expect(finalizations).toBeGreaterThan(40);
  expect(prunings).toBeGreaterThan(40);
  expect(boosts).toBeGreaterThan(100);
});
