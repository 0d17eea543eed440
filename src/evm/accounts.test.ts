import { HDNodeWallet, Mnemonic } from "ethers";
import { expect, it } from "vitest";
import { hexOf } from "../../test/support/evm/evm.ts";
import { devAccountKeys, fundedAccounts, TEST_MNEMONIC } from "./accounts.ts";

it("has the first accounts of the test mnemonic", () => {
  const parent = HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(TEST_MNEMONIC), "m/44'/60'/0'/0");
  const derived = Array.from({ length: 10 }, (_, index) => parent.deriveChild(index));
  expect(fundedAccounts()).toEqual(derived.map(({ address, privateKey }) => ({ address, privateKey })));
  expect(devAccountKeys().map(({ address, privateKey }) => [hexOf(address), hexOf(privateKey)])).toEqual(
    derived.map(({ address, privateKey }) => [address.slice(2).toLowerCase(), privateKey.slice(2)]),
  );
});
