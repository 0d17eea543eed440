import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { CachedBeaconStateBellatrix } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PROPOSAL_FAULTS, refusalOf, TestChain } from "../../../test/support/chain/validation/validation-chain.ts";
import { validateGossipBlock } from "./block.ts";

describe.each(["phase0", "bellatrix", "fulu"] as const)("the rules for blocks of %s", (fork) => {
  let chain: TestChain;
  beforeEach(() => {
    chain = new TestChain(fork);
    chain.extend(1);
    chain.clock.set(2);
  });
  afterEach(() => chain.close());

  const validate = (block: { signed: Parameters<typeof validateGossipBlock>[1] }) =>
    validateGossipBlock(chain.context, block.signed);

  it("accepts a valid block once and recognizes it afterwards", async () => {
    const block = chain.produce(2);
    const { root, preState } = await validate(block);
    expect(root).toBe(block.root);
    expect(preState.slot).toBe(2);
    expect(await refusalOf(validate(block))).toMatchObject({ action: "ignore", reason: "already-known", known: true });
  });

  it("recognizes an imported block", async () => {
    const block = chain.produce(2);
    expect(chain.extend(2)).toBe(block.root);
    expect(await refusalOf(validate(block))).toMatchObject({ reason: "already-known", known: true });
  });

  it("accepts a block half a second before its slot, not earlier", async () => {
    const block = chain.produce(3);
    chain.clock.set(3, -501);
    const refusal = await refusalOf(validate(block));
    expect(refusal).toMatchObject({ action: "ignore", reason: "future-slot", known: false });
    expect(refusal.message).toBe("The block's slot 3 is in the future: the current slot is 2.");
    chain.clock.set(3, -499);
    expect((await validate(block)).root).toBe(block.root);
  });

  it("rejects a second block of the proposer for the slot", async () => {
    await validate(chain.produce(2));
    const other = chain.produce(2, { change: (block) => block.body.graffiti.fill(1) });
    expect(await refusalOf(validate(other))).toMatchObject({
      action: "ignore",
      reason: "conflicting-block",
      known: false,
    });
  });

  it("accepts one of two blocks validated concurrently", async () => {
    const blocks = [0, 1].map((graffiti) =>
      chain.produce(2, { change: (block) => block.body.graffiti.fill(graffiti) }),
    );
    const settled = await Promise.allSettled(blocks.map(validate));
    expect(settled.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  it.each(PROPOSAL_FAULTS)("%s: %s", async (reason, action, change) => {
    expect(await refusalOf(validate(chain.produce(2, { change })))).toMatchObject({ action, reason, known: false });
  });

  it("rejects an unknown proposer", async () => {
    const block = chain.produce(2);
    block.signed.message.proposerIndex = 64;
    expect(await refusalOf(validate(block))).toMatchObject({ action: "reject", reason: "unknown-validator" });
  });

  it("rejects an invalid proposer signature without marking the block as seen", async () => {
    const block = chain.produce(2);
    const { signature } = chain.produce(2, { change: (other) => other.body.graffiti.fill(1) }).signed;
    expect(await refusalOf(validate({ signed: { ...block.signed, signature } }))).toMatchObject({
      action: "reject",
      reason: "bad-signature",
    });
    expect((await validate(block)).root).toBe(block.root);
  });

  it("rejects an unsigned block with an unknown parent instead of ignoring it", async () => {
    const { signed } = chain.produce(2, { change: (block) => block.parentRoot.fill(7) });
    const { signature } = chain.produce(2).signed;
    expect(await refusalOf(validate({ signed: { ...signed, signature } }))).toMatchObject({
      action: "reject",
      reason: "bad-signature",
    });
    expect(await refusalOf(validate({ signed }))).toMatchObject({ action: "ignore", reason: "unknown-parent" });
  });

  it("does not reject a proposer that missing blocks may have added", async () => {
    const { signed } = chain.produce(2, { change: (block) => block.parentRoot.fill(7) });
    signed.message.proposerIndex = 64;
    expect(await refusalOf(validate({ signed }))).toMatchObject({ action: "ignore", reason: "unknown-validator" });
  });

  it("verifies the proposer signature once", async () => {
    const verify = vi.spyOn(chain.context.bls, "verify");
    await validate(chain.produce(2));
    expect(verify).toHaveBeenCalledTimes(1);
  });

  it("ignores slots up to the finalized one", async () => {
    const boundary = chain.extend(SLOTS_PER_EPOCH);
    chain.extend(SLOTS_PER_EPOCH + 1, { finalized: { epoch: 1, root: boundary } });
    const late = chain.produce(2, { parent: chain.genesisRoot });
    expect(await refusalOf(validate(late))).toMatchObject({ action: "ignore", reason: "finalized-slot" });
    chain.clock.set(SLOTS_PER_EPOCH + 2);
    await validate(chain.produce(SLOTS_PER_EPOCH + 2));
  });

  it("rejects a parent off the finalized chain", async () => {
    const trunk = chain.headRoot;
    const stale = chain.extend(2, { graffiti: 1 });
    const boundary = chain.extend(SLOTS_PER_EPOCH, { parent: trunk });
    chain.extend(SLOTS_PER_EPOCH + 1, { finalized: { epoch: 1, root: boundary } });
    chain.clock.set(SLOTS_PER_EPOCH + 2);
    expect(await refusalOf(validate(chain.produce(SLOTS_PER_EPOCH + 2, { parent: stale })))).toMatchObject({
      action: "reject",
      reason: "not-descended-from-finalized",
    });
  });

  it("rejects signed descendants of an invalid block", async () => {
    const bad = new Uint8Array(32).fill(7);
    const child = chain.produce(2, { change: (block) => block.parentRoot.set(bad) });
    const grandchild = chain.produce(3, { change: (block) => block.parentRoot.set(fromHex(child.root)) });
    chain.context.invalidBlocks.add(toRootHex(bad));
    chain.clock.set(3);
    const { signature } = grandchild.signed;
    const retryBackoff = [{ ...child.signed, signature }, grandchild.signed, child.signed, grandchild.signed];
    const reasons: string[] = [];
    for (const signed of retryBackoff) {
      const { action, reason } = await refusalOf(validate({ signed }));
      reasons.push(`${action} ${reason}`);
    }
    expect(reasons).toEqual([
      "reject bad-signature",
      "ignore unknown-parent",
      "reject invalid-parent",
      "reject invalid-parent",
    ]);
  });

  it("ignores a block whose parent's state is unavailable", async () => {
    const context = {
      ...chain.context,
      states: {
        ...chain.context.states,
        preState: () => Promise.reject(new Error("gone")),
      },
    };
    const refusal = await refusalOf(validateGossipBlock(context, chain.produce(2).signed));
    expect(refusal).toMatchObject({ action: "ignore", reason: "state-unavailable", cause: new Error("gone") });
  });
});

describe("the rules about payloads", () => {
  let chain: TestChain;
  beforeEach(() => {
    chain = new TestChain("fulu");
    chain.extend(1);
    chain.clock.set(2);
  });
  afterEach(() => chain.close());

  it("rejects a wrong payload timestamp", async () => {
    const block = chain.produce(2, {
      change: ({ body }) => {
        if ("executionPayload" in body) body.executionPayload.timestamp++;
      },
    });
    const refusal = await refusalOf(validateGossipBlock(chain.context, block.signed));
    expect(refusal).toMatchObject({ action: "reject", reason: "wrong-payload-timestamp" });
    expect(refusal.message).toContain("1700000013, but slot 2 starts at 1700000012");
  });

  it("accepts the maximum number of blobs and rejects one more", async () => {
    const limit = chain.config.getMaxBlobsPerBlock(0);
    const withBlobs = (count: number) =>
      chain.produce(2, {
        change: ({ body }) => {
          if ("blobKzgCommitments" in body) body.blobKzgCommitments = new Array(count).fill(new Uint8Array(48));
        },
      }).signed;
    expect(await refusalOf(validateGossipBlock(chain.context, withBlobs(limit + 1)))).toMatchObject({
      action: "reject",
      reason: "too-many-blobs",
    });
    await validateGossipBlock(chain.context, withBlobs(limit));
  });

  it("ignores a parent with an invalid payload", async () => {
    const { signed } = chain.produce(2);
    chain.forkChoice.onInvalidPayload(chain.headRoot, null);
    expect(await refusalOf(validateGossipBlock(chain.context, signed))).toMatchObject({
      action: "ignore",
      reason: "invalid-parent",
    });
  });

  it("accepts an empty Bellatrix payload only before the merge", async () => {
    const merged = new TestChain("bellatrix");
    const { ExecutionPayload } = merged.config.getPostBellatrixForkTypes(1);
    const { signed } = merged.produce(1, {
      change: ({ body }) => {
        if ("executionPayload" in body) body.executionPayload = ExecutionPayload.defaultValue();
      },
    });
    merged.clock.set(1);
    expect(await refusalOf(validateGossipBlock(merged.context, signed))).toMatchObject({
      reason: "wrong-payload-timestamp",
    });

    const head = merged.headState.clone() as CachedBeaconStateBellatrix;
    head.latestExecutionPayloadHeader = ssz.bellatrix.ExecutionPayloadHeader.defaultViewDU();
    head.commit();
    await validateGossipBlock({ ...merged.context, states: { ...merged.context.states, head } }, signed);
    await merged.close();
  });
});
