import { expect, it } from "vitest";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { announceAccounts } from "./banner.ts";

function announced(settings: Parameters<typeof announceAccounts>[0]): string[] {
  const logger = createRecordingLogger();
  announceAccounts(settings, logger);
  return logger.records.map(({ message }) => message);
}

it("lists the funded accounts with their private keys, only for people and with the EVM", () => {
  const evm = { chainId: 5 };
  const [first, ...accounts] = announced({ evm, log: { format: "text" } });
  expect(first).toContain("Chain id 5.");
  expect(accounts).toHaveLength(10);
  expect(accounts[0]).toBe(
    "(0) 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 " +
      "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
  );
  expect(announced({ evm, log: { format: "json" } })).toEqual([]);
  expect(announced({ evm: undefined, log: { format: "text" } })).toEqual([]);
});
