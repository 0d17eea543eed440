import { Address, EthereumJSErrorWithoutCode, eoaCode7702SignAuthorization } from "@ethereumjs/util";
import { afterEach, expect, it, vi } from "vitest";
import { addressOf, bytesOf, hexOf, optionsOf, TestChain } from "../../../test/support/evm/evm.ts";
import { DEFAULT_CHAIN_ID } from "../genesis.ts";
import { WorldState } from "../state/world-state.ts";
import type { Transaction } from "./transaction.ts";

const OUTER = addressOf(0x0a);
const INNER = addressOf(0x0b);

/** Adds TLOAD(1) and 1 to slot 0, sets transient slot 1 to 1, emits a log, and reverts if there is calldata. */
const INNER_CODE = "60015c600054016001016000556001600160015d60006000a0" + "36601e57005b60006000fd";

const callInner = (value: string, inSize: string) => `6000600060${inSize}600060${value}73${hexOf(INNER)}6200fffff150`;
/**
 * Calls INNER with 1 wei, calls it again in a way that reverts, creates an account that destroys itself and another
 * that stays, calls SHA-256, and adds its own balance to slot 1.
 */
const OUTER_CODE = [
  callInner("01", "00"),
  callInner("00", "01"),
  "6133ff6000526002601e6002f050",
  "6460016000f36000526005601b6000f050",
  "602060006020600060006002" + "6200fffff150",
  "3031600154016001" + "5500",
].join("");

/** State methods called by the EVM. */
const METHODS = [
  ...([
    "getAccount",
    "putAccount",
    "deleteAccount",
    "modifyAccountFields",
    "getCode",
    "getCodeSize",
    "putCode",
  ] as const),
  ...(["getStorage", "putStorage", "clearStorage", "storageAt", "checkpoint", "commit", "revert"] as const),
];

afterEach(() => vi.restoreAllMocks());

/**
 * Makes the n-th call to the state fail, counting only calls made while `isActive`. Returns a function that reports
 * whether the n-th call was reached.
 */
function failAt(wanted: number, isActive: () => boolean): () => boolean {
  let calls = 0;
  for (const name of METHODS) {
    const original = WorldState.prototype[name] as (...args: unknown[]) => unknown;
    vi.spyOn(WorldState.prototype, name).mockImplementation(function (this: WorldState, ...args: unknown[]) {
      const message = `no ${name}`;
      if (isActive() && ++calls === wanted) {
        // Transaction checks throw the same kind of error, but before any state has changed.
        throw /Storage|Code$/.test(name) ? EthereumJSErrorWithoutCode(message) : new TypeError(message);
      }
      return original.apply(this, args) as never;
    } as never);
  }
  return () => calls >= wanted;
}

it("builds the block that it builds without a transaction, at whichever step the EVM fails to execute it", async () => {
  const chain = await TestChain.open(optionsOf("osaka"), [
    { address: OUTER, code: bytesOf(OUTER_CODE), nonce: 1n, balance: 100n },
    { address: INNER, code: bytesOf(INNER_CODE), nonce: 1n },
  ]);
  const parent = await chain.build();
  const to = new Address(OUTER);
  const gasLimit = 1_000_000n;
  const chainId = bytesOf(`00${DEFAULT_CHAIN_ID.toString(16)}`.slice(-4));
  const authorization = eoaCode7702SignAuthorization([chainId, OUTER, new Uint8Array(0)], new Uint8Array(32).fill(9));
  const before = chain.sign(0, { to, value: 5n, gasLimit });
  const failing = chain.sign(1, { type: 4, to, value: 7n, gasLimit, authorizationList: [authorization] });
  const sameSender = chain.sign(1, { to, gasLimit });
  const after = chain.sign(2, { to, gasLimit });
  const attributes = chain.attributes();
  const without = await chain.executor.build(parent, attributes, [before, after]);
  expect(without.receipts.map(({ succeeded, logs }) => [succeeded, logs.length])).toEqual([
    [true, 1],
    [true, 1],
  ]);

  let step = 0;
  for (let hasFailed = true; hasFailed; ) {
    let current: Transaction | undefined;
    const candidates = function* () {
      for (current of [before, failing, sameSender, after]) yield current;
      current = undefined;
    };
    const reached = failAt(++step, () => current === failing);
    const faults: [Transaction, string][] = [];
    const block = await chain.executor.build(parent, attributes, candidates(), (transaction, { message }) => {
      faults.push([transaction, message]);
    });
    hasFailed = reached();
    vi.restoreAllMocks();
    if (!hasFailed) {
      expect(block.transactions).toEqual([before, failing, sameSender, after]);
      expect(block.receipts.map(({ succeeded }) => succeeded)).toEqual([true, true, true, true]);
      continue;
    }
    expect(faults, `step ${step}`).toEqual([
      [failing, expect.stringMatching(/^the EVM failed to execute it: no [a-zA-Z]+$/)],
    ]);
    expect([step, hexOf(block.hash)]).toEqual([step, hexOf(without.hash)]);
    expect(hexOf((await chain.executor.execute(parent, block)).hash)).toBe(hexOf(without.hash));
  }
  expect(step).toBeGreaterThan(80);
});
