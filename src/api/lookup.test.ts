import { toRootHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { CURRENT_SLOT, createFakeChain, HEAD_SLOT } from "../../test/support/api/fake-chain.ts";
import { findBlock, resolveBlock, resolveState } from "./lookup.ts";

const UNKNOWN_ROOT = `0x${"ab".repeat(32)}`;

describe("state ids", () => {
  const chain = createFakeChain();

  it.each([
    ["head", HEAD_SLOT, false],
    ["genesis", 0, true],
    ["finalized", 0, true],
    ["justified", 0, true],
    [0, 0, true],
    [2, 2, false],
    [CURRENT_SLOT, CURRENT_SLOT, false],
  ])("%s is the state of slot %i", async (stateId, slot, finalized) => {
    const resolved = await resolveState(chain, stateId);
    expect(resolved.state.slot).toBe(slot);
    expect(resolved.finalized).toBe(finalized);
    expect(resolved.executionOptimistic).toBe(false);
  });

  it("finds a state by its root", async () => {
    const root = toRootHex(chain.headState.hashTreeRoot());
    expect((await resolveState(chain, root)).state).toBe(chain.headState);
  });

  it.each([
    [
      CURRENT_SLOT + 1,
      `Slot ${CURRENT_SLOT + 1} is in the future: the head is at slot ${chain.head.slot}. ` +
        "On a dev chain, dev_advance gets there.",
    ],
    [UNKNOWN_ROOT, `No state for ${UNKNOWN_ROOT}.`],
  ])("%s is not found", async (stateId, message) => {
    await expect(resolveState(chain, stateId)).rejects.toMatchObject({ kind: "not-found", message });
  });

  it("rejects unknown identifiers", async () => {
    await expect(resolveState(chain, "tail")).rejects.toMatchObject({ kind: "invalid-params" });
  });

  it("reports the checkpoint state as finalized, even if its slot is after the checkpoint block", async () => {
    const later = createFakeChain();
    later.finalized.epoch = 1;
    const resolved = await resolveState(later, "finalized");
    expect(resolved.state.slot).toBe(8);
    expect(resolved.finalized).toBe(true);
  });

  it("never reports a side branch as finalized", async () => {
    const later = createFakeChain();
    later.finalized.epoch = 1;
    later.blocks.rootAtOrBefore = async () => later.head.root;
    expect((await resolveState(later, "head")).finalized).toBe(false);
  });

  it("reports an optimistic block", async () => {
    const optimistic = createFakeChain();
    optimistic.execution = { status: "optimistic", blockHash: UNKNOWN_ROOT, blockNumber: 1 };
    expect((await resolveState(optimistic, "head")).executionOptimistic).toBe(true);
  });
});

describe("block ids", () => {
  const chain = createFakeChain();

  it.each([
    ["head", chain.head.root],
    ["genesis", chain.genesisRoot],
    ["finalized", chain.genesisRoot],
    [0, chain.genesisRoot],
    [HEAD_SLOT, chain.head.root],
    [chain.sideRoot, chain.sideRoot],
  ])("%s is the block %s", async (blockId, root) => {
    expect((await resolveBlock(chain, blockId)).root).toBe(root);
  });

  it.each([2, CURRENT_SLOT, Number.POSITIVE_INFINITY, UNKNOWN_ROOT])("%s is not found", async (blockId) => {
    await expect(resolveBlock(chain, blockId)).rejects.toMatchObject({ kind: "not-found" });
    expect(await findBlock(chain, blockId)).toBeNull();
  });

  it("rejects justified as a block id", async () => {
    await expect(resolveBlock(chain, "justified")).rejects.toMatchObject({ kind: "invalid-params" });
  });
});
