import { Address } from "@ethereumjs/util";
import { expect, it } from "vitest";
import { addressOf, bytesOf, optionsOf, SLOT_SECONDS, TestChain } from "../../../test/support/evm/evm.ts";
import { CallBudget } from "./call-budget.ts";
import { evmBlock } from "./evm-block.ts";

const LOOP = addressOf(1);
const RECURSION = addressOf(2);
const GAS = 10n ** 15n;
/** Loops by jumping to its start. */
const LOOP_CODE = bytesOf("5b5f56");
/** Calls itself twice, without jumps. */
const RECURSION_CODE = bytesOf("5f5f5f5f5f305af1505f5f5f5f5f305af1");

async function openChain() {
  const chain = await TestChain.open(optionsOf("osaka"), [
    { address: LOOP, code: LOOP_CODE },
    { address: RECURSION, code: RECURSION_CODE },
  ]);
  const call = (to: Uint8Array, budget: CallBudget) => {
    const { genesis, rules } = chain;
    const fork = rules.at(genesis.header.timestamp + BigInt(SLOT_SECONDS));
    return fork.withLimitedMachine(budget, async ({ state, vm }) => {
      state.open(genesis.world);
      const block = evmBlock(genesis.header, fork) as never;
      return vm.evm.runCall({ to: new Address(to), gasLimit: GAS, block });
    });
  };
  return { chain, call };
}

it.each([
  ["a loop", LOOP],
  ["recursion without jumps", RECURSION],
])("builds blocks while %s runs, until it is cancelled", async (_, to) => {
  const { chain, call } = await openChain();
  const controller = new AbortController();
  let isRunning = true;
  const calling = call(to, new CallBudget(controller.signal)).finally(() => {
    isRunning = false;
  });
  calling.catch(() => {});
  for (let number = 1; number <= 3; number++) {
    await chain.build();
    // Let the call run for one turn.
    await new Promise(setImmediate);
  }
  expect([chain.head.header.number, isRunning]).toEqual([3n, true]);
  controller.abort(new Error("enough"));
  await expect(calling).rejects.toThrow("enough");
});
