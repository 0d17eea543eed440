import { Address } from "@ethereumjs/util";
import { HDNodeWallet, Interface, Mnemonic, ZeroAddress } from "ethers";
import { describe, expect, it } from "vitest";
import contracts from "../../test/fixtures/execution-contracts.json" with { type: "json" };
import { addressOf, bytesOf, DEPOSIT_CONTRACT, hexOf, optionsOf, TestChain } from "../../test/support/evm/evm.ts";
import { FUNDED_ADDRESSES, TEST_MNEMONIC } from "./accounts.ts";
import { DETERMINISTIC_DEPLOYER_ADDRESS, MULTICALL3_ADDRESS } from "./genesis.ts";
import { CONSOLIDATION_REQUESTS, WITHDRAWAL_REQUESTS } from "./system-addresses.ts";

describe("genesis", () => {
  it("funds the first ten accounts of the test mnemonic", async () => {
    const parent = HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(TEST_MNEMONIC), "m/44'/60'/0'/0");
    const addresses = Array.from({ length: 10 }, (_, index) => parent.deriveChild(index).address);
    expect(FUNDED_ADDRESSES).toEqual(addresses);
    const { genesis, executor } = await TestChain.open(optionsOf("osaka"));
    for (const address of addresses) {
      expect(executor.reader.account(genesis.world, bytesOf(address))?.balance).toBe(10_000n * 10n ** 18n);
    }
  });

  it("has the code and storage of the contracts of public networks", async () => {
    const { genesis, executor } = await TestChain.open(optionsOf("cancun"));
    for (const [name, { address, code, storage }] of Object.entries(contracts)) {
      const at = name === "deposit" ? DEPOSIT_CONTRACT : bytesOf(address);
      const account = executor.reader.account(genesis.world, at);
      expect(hexOf(account!.code), name).toBe(code.slice(2));
      for (const [slot, value] of Object.entries(storage)) {
        expect(hexOf(executor.reader.slot(account!.storage, bytesOf(slot))), `${name} ${slot}`).toBe(value.slice(2));
      }
    }
  });

  it("accepts requests from block 1 on if it starts in Prague", async () => {
    const { genesis, executor } = await TestChain.open(optionsOf("prague"));
    for (const address of [WITHDRAWAL_REQUESTS, CONSOLIDATION_REQUESTS]) {
      expect(executor.reader.account(genesis.world, address)).toMatchObject({ storage: undefined });
    }
  });

  it("has a working Multicall3 and deterministic deployer", async () => {
    const chain = await TestChain.open(optionsOf("osaka"));
    const multicall = new Interface([
      "function aggregate3Value((address target, bool allowFailure, uint256 value, bytes data)[]) payable",
    ]);
    const recipient = `0x${hexOf(addressOf(1))}`;
    const calls = [
      [recipient, false, 3n, "0x"],
      [ZeroAddress, false, 4n, "0x"],
    ];
    const data = bytesOf(multicall.encodeFunctionData("aggregate3Value", [calls]));
    const initCode = bytesOf("600160005360016000f3");
    const { receipts, world } = await chain.build([
      chain.sign(0, { to: new Address(bytesOf(MULTICALL3_ADDRESS)), value: 7n, data }),
      chain.sign(0, {
        to: new Address(bytesOf(DETERMINISTIC_DEPLOYER_ADDRESS)),
        data: new Uint8Array([...new Uint8Array(32), ...initCode]),
      }),
    ]);
    expect(receipts.map(({ succeeded }) => succeeded)).toEqual([true, true]);
    expect(chain.executor.reader.account(world, addressOf(1))?.balance).toBe(3n);
    const { keccak } = chain.rules.crypto;
    const preimage = Buffer.concat([
      Uint8Array.of(0xff),
      bytesOf(DETERMINISTIC_DEPLOYER_ADDRESS),
      new Uint8Array(32),
      keccak(initCode),
    ]);
    const deployed = chain.executor.reader.account(world, keccak(preimage).subarray(12));
    expect(deployed?.code).toEqual(Uint8Array.of(1));
  });
});
