import { describe, expect, it } from "vitest";
import { locateState } from "../../src/web/state-position.ts";

/** Headers of epoch 2: blocks of slots 17 and 18. */
const headers = [17, 18].map((slot) => ({
  root: `block-${slot}`,
  header: { message: { slot: String(slot), state_root: `state-${slot}` } },
}));

describe("the position of a state", () => {
  const locate = (id: string, root: string) => locateState({ id, root, epoch: 2, slotsPerEpoch: 8 }, headers);

  it("is that of the block with its root", () => {
    expect(locate("head", "state-18")).toEqual({ epoch: 2, slot: 18, blockRoot: "block-18" });
    expect(locate("state-17", "state-17")).toEqual({ epoch: 2, slot: 17, blockRoot: "block-17" });
  });

  it("is the requested slot if it has no block", () => {
    expect(locate("19", "other")).toEqual({ epoch: 2, slot: 19, blockRoot: undefined });
  });

  it("is the start of the epoch for a checkpoint whose slot has no block", () => {
    expect(locate("finalized", "other")).toEqual({ epoch: 2, slot: 16, blockRoot: undefined });
    expect(locate("justified", "other")).toEqual({ epoch: 2, slot: 16, blockRoot: undefined });
  });

  it("is only the epoch for other states without a block", () => {
    expect(locate("0xab", "0xab")).toEqual({ epoch: 2, slot: undefined, blockRoot: undefined });
  });
});
