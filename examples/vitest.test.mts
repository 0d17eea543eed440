// One chain per vitest worker, reverted after each test, and matchers for it.
// npm install --save-dev fanal vitest
import { chainTest, expect } from "fanal/vitest";

// Tests with the same options share a chain. The function prepares it once, before the first test.
const test = chainTest({ validators: 64, evm: false }, (chain) => chain.advanceUntil("finalized"));

test("a slashing takes effect in the next block", async ({ chain }) => {
  await chain.validator(3).slash();
  await expect(chain).not.toHaveSlashed(3);
  await chain.advance();
  await expect(chain).toHaveSlashed(3);
  await expect(chain).toHaveValidatorStatus(3, "active_slashed");
});

test("the next test starts from the same state", async ({ chain }) => {
  await expect(chain).toHaveHeadAt(32);
  await expect(chain).not.toHaveSlashed(3);
  await chain.advance({ epochs: 1 });
  await expect(chain).toBeJustifiedAt(4);
  await expect(chain).toBeFinalizedAt(3);
});

// Other options: a chain of its own, with the types of its forks.
const upgradeTest = chainTest({ validators: 16, fork: "deneb", forkAt: { electra: 1 }, evm: false });

upgradeTest("electra adds requests to blocks", async ({ chain }) => {
  await chain.advance();
  expect((await chain.block()).message.body).not.toHaveProperty("execution_requests");
  await chain.advanceUntil({ epoch: 1 });
  expect((await chain.block()).message.body).toHaveProperty("execution_requests");
});
