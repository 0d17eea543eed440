import { expect } from "vitest";
import type { ForkChoice } from "../../../../src/chain/fork-choice/fork-choice.ts";
import { name } from "./block-operations.ts";
import type { SpecStore } from "./spec-store.ts";

/** Compares heads, checkpoints and the votes on the head's payload. Balances must be up to date. */
export function compareHeads(forkChoice: ForkChoice, spec: SpecStore): void {
  const head = forkChoice.updateHead().root;
  const headNode = forkChoice.headNode;
  const { currentSlot } = spec;
  const held = {
    headNode,
    buildsOnFull: [0, 1].map((slots) => forkChoice.shouldBuildOnFull(headNode, currentSlot + slots)),
    isTimely: [true, false].map((value) => forkChoice.payloadTimeliness(head, value)),
    isAvailable: [true, false].map((value) => forkChoice.payloadDataAvailability(head, value)),
    justified: forkChoice.justified,
    finalized: forkChoice.finalized,
    unrealizedJustified: forkChoice.unrealizedJustified,
    unrealizedFinalized: forkChoice.unrealizedFinalized,
    boostedRoot: forkChoice.proposerBoostRoot,
    weight: Math.round(forkChoice.weightOf(head) * 1e9),
  };
  const specHead = spec.getHead();
  expect(held).toEqual({
    headNode: specHead,
    buildsOnFull: [0, 1].map((slots) => spec.shouldBuildOnFull(specHead, currentSlot + slots)),
    isTimely: [true, false].map((value) => spec.payloadTimeliness(specHead.root, value)),
    isAvailable: [true, false].map((value) => spec.payloadDataAvailability(specHead.root, value)),
    justified: spec.justified,
    finalized: spec.finalized,
    unrealizedJustified: spec.unrealizedJustified,
    unrealizedFinalized: spec.unrealizedFinalized,
    boostedRoot: spec.boostedRoot,
    weight: spec.getWeight({ root: head, payloadStatus: "pending" }),
  });
}

/** Compares the weights of all nodes, as of the last comparison of heads. */
export function compareWeights(forkChoice: ForkChoice, spec: SpecStore): void {
  for (const { root, parentRoot, slot, bid } of forkChoice.all()) {
    for (const payloadStatus of bid ? (["pending", "empty", "full"] as const) : (["pending"] as const)) {
      const weight = Math.round(forkChoice.weightOf(root, payloadStatus) * 1e9);
      expect(weight, `${name(root)}, ${payloadStatus}`).toBe(spec.getWeight({ root, payloadStatus }));
    }
    // Fork choice knows no committees of the anchor, which has no rival of its slot.
    const isRecent = slot + 1 >= spec.currentSlot && forkChoice.isHot({ parentRoot });
    if (isRecent) expect(forkChoice.isHeadWeak(root), name(root)).toBe(spec.isHeadWeak(root));
  }
}
