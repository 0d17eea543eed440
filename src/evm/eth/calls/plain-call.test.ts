import { describe, expect, it, vi } from "vitest";
import { addressOf, bytesOf, optionsOf, TestChain } from "../../../../test/support/evm/evm.ts";
import type { CallRequest } from "./call-request.ts";
import { type CallOutcome, CallState } from "./call-state.ts";

/** Returns the word on top of the stack. */
const RETURN = "5f5260205ff3";
/** Measures the gas for reading the balance of the address that `push` puts on the stack. */
const balanceGas = (push: string) => `5a${push}31505a9003${RETURN}`;
const CODES: Readonly<Record<string, string>> = {
  "the gas that is left": `5a${RETURN}`,
  "the gas price": `3a${RETURN}`,
  "the origin": `32${RETURN}`,
  "the caller": `33${RETURN}`,
  "the value": `34${RETURN}`,
  "its own balance": `47${RETURN}`,
  "the base fee": `48${RETURN}`,
  "the blob base fee": `4a${RETURN}`,
  "the size of its input": `36${RETURN}`,
  "the gas of the coinbase": balanceGas("41"),
  "the gas of the origin": balanceGas("32"),
  "the gas of itself": balanceGas("30"),
  "the gas of a precompile": balanceGas("6004"),
  "the gas of a cold account": balanceGas("61ffff"),
  "the address of a new contract": `5f5f5ff0${RETURN}`,
  "transient storage before it sets it": `5f5c60015f5d${RETURN}`,
  "storage before it sets it": `5f5460015f55${RETURN}`,
  "the gas of setting storage": `5a60015f555a9003${RETURN}`,
  "a revert": "60015f5260205ffd",
  "an invalid opcode": "fe",
  nothing: "",
};
const CONTRACTS = Object.keys(CODES).map((name, index) => ({ name, address: addressOf(0x700 + index) }));
const FUNDED = bytesOf("f39fd6e51aad88f6f4ce6ab8827279cfffb92266");

async function openCalls(fork: "osaka" | "amsterdam" = "osaka") {
  const accounts = CONTRACTS.map(({ name, address }) => ({ address, nonce: 1n, code: bytesOf(CODES[name]!) }));
  const chain = await TestChain.open(optionsOf(fork), accounts);
  const block = await chain.build();
  const outcomeOf = async (execute: (state: CallState) => Promise<Pick<CallOutcome, "returnData" | "failure">>) => {
    try {
      const { returnData, failure } = await CallState.open(chain.rules, { block }, execute);
      return { returnData: Buffer.from(returnData).toString("hex"), failure };
    } catch (error) {
      return { error: (error as Error).message };
    }
  };
  return {
    direct: (request: CallRequest) => outcomeOf((state) => state.call(request)),
    asTransaction: (request: CallRequest) => outcomeOf((state) => state.run(request)),
  };
}

describe("a call without a transaction", () => {
  it.each(CONTRACTS)("returns the same as a transaction: $name", async ({ address: to }) => {
    const { direct, asTransaction } = await openCalls();
    const requests: CallRequest[] = [
      { to },
      { to, from: FUNDED, value: 7n, data: bytesOf("00010002ff") },
      { to, from: to },
      { to, gas: 30_000n },
      { to, gas: 21_000n },
      { to, gas: 20_999n },
      { to, gas: 30_000n, data: new Uint8Array(300).fill(1) },
      { to, value: 10n ** 30n },
    ];
    for (const request of requests) expect(await direct(request)).toEqual(await asTransaction(request));
  });

  it("runs as a transaction if it has a gas price, an access list or no recipient", async () => {
    const { direct, asTransaction } = await openCalls();
    const [{ address: to }] = CONTRACTS as [(typeof CONTRACTS)[0]];
    const run = vi.spyOn(CallState.prototype, "run");
    await direct({ to });
    expect(run).not.toHaveBeenCalled();
    const requests: CallRequest[] = [
      { to, from: FUNDED, gasPrice: 10n ** 11n },
      { to, from: FUNDED, maxFeePerGas: 10n ** 11n },
      { to, accessList: [{ address: to, storageKeys: [] }] },
      { data: bytesOf("5f5ff3") },
      { to, chainId: 1n },
    ];
    for (const request of requests) expect(await direct(request)).toEqual(await asTransaction(request));
    expect(run).toHaveBeenCalledTimes(2 * requests.length - 1);
    run.mockRestore();
  });

  it.each(CONTRACTS)("runs as a transaction from Amsterdam on: $name", async ({ address: to }) => {
    const { direct, asTransaction } = await openCalls("amsterdam");
    for (const request of [{ to }, { to, gas: 30_000n }]) {
      expect(await direct(request)).toEqual(await asTransaction(request));
    }
  });
});
