import { expect, it } from "vitest";
import { devAccountKeys } from "./accounts.ts";
import { fundedKeys, hexOf } from "./evm.test-support.ts";

it("derives the keys of the funded accounts from the test mnemonic", () => {
  expect(devAccountKeys().map(({ privateKey }) => hexOf(privateKey))).toEqual(fundedKeys().map(hexOf));
});
