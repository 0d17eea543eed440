import { describe, expect as plainExpect } from "vitest";
import type { DevChain } from "../../src/library/index.ts";
import { chainTest, expect } from "../../src/library/testing/vitest.ts";

const FEW = { validators: 8, evm: false } as const;
const test = chainTest(FEW, (chain) => chain.advance({ slots: 2 }));

/** Asserts the message of a failing matcher. */
const expectFailure = (matching: Promise<void>, message: string) =>
  plainExpect(matching).rejects.toMatchObject({ message });

describe("chainTest of vitest", () => {
  const used: DevChain[] = [];

  test("gives a test a chain, which it may change", async ({ chain }) => {
    used.push(chain);
    await chain.advance({ slots: 5 });
    await expect(chain).toHaveHeadAt(7);
  });

  test("reverts the chain for the next test", async ({ chain }) => {
    expect(used).toEqual([chain]);
    await expect(chain).toHaveHeadAt(2);
  });

  chainTest({ ...FEW, validators: 16, fork: "deneb" })("gives a test with other options its own", async ({ chain }) => {
    expect(used).not.toContain(chain);
    expect(await chain.validators.list()).toHaveLength(16);
    const { body } = (await chain.block()).message;
    expect(body.blob_kzg_commitments).toEqual([]);
    // @ts-expect-error: since electra.
    expect(body.execution_requests).toBeUndefined();
  });
});

describe("matchers", () => {
  test("compare checkpoints and the head", async ({ chain }) => {
    await chain.advanceUntil("finalized");
    await expect(chain).toBeFinalizedAt(2);
    await expect(chain).not.toBeFinalizedAt(3);
    await expect(chain).toBeJustifiedAt(3n);
    await expect(chain).toHaveHeadAt(32);
    const position = "At slot 32: head slot 32, justified epoch 3, finalized epoch 2.";
    await expectFailure(expect(chain).toBeFinalizedAt(4), `Expected the finalized epoch to be 4, got 2.\n${position}`);
    await expectFailure(expect(chain).not.toHaveHeadAt(32), `Expected the head slot not to be 32.\n${position}`);
  });

  test("tell a slashing in a block from one in the pool", async ({ chain }) => {
    await chain.validator(3).slash();
    await chain.validator(4).slash("attester");
    const position = (slot: number) => `At slot ${slot}: head slot ${slot}, justified epoch 0, finalized epoch 0.`;
    await expectFailure(
      expect(chain).toHaveSlashed(3, 4, 5),
      [
        "Expected validators 3, 4, 5 to be slashed.",
        "  validator 3: active_ongoing",
        "  validator 4: active_ongoing",
        "  validator 5: active_ongoing",
        position(2),
        "A slashing of validator 3 is in the pool. chain.advance() includes it.",
        "A slashing of validator 4 is in the pool. chain.advance() includes it.",
      ].join("\n"),
    );
    await chain.advance();
    await expect(chain).toHaveSlashed(3, 4);
    await expect(chain).not.toHaveSlashed(5);
    await expect(chain).toHaveValidatorStatus(3, "active_slashed");
    await expectFailure(
      expect(chain).not.toHaveSlashed(3),
      `Expected validator 3 not to be slashed.\n  validator 3: active_slashed\n${position(3)}`,
    );
    await expectFailure(
      expect(chain).toHaveValidatorStatus(5, "active_exiting"),
      `Expected the status of validator 5 to be active_exiting, got active_ongoing.\n${position(3)}`,
    );
  });

  test("reject other values", async ({ chain }) => {
    await plainExpect(async () => expect(chain.client).toBeFinalizedAt(2)).rejects.toThrow(
      "Expected a chain of startDevChain or attachDevChain, got object. Pass the chain itself.",
    );
  });
});
