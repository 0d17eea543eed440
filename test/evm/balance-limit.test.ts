import { expect, it } from "vitest";
import { EVM_WITHDRAWALS } from "../../src/dev/genesis-parameters.ts";
import { bytesOf, hexOf, openEvmChain } from "../support/chain/evm-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const { address: WITHDRAWAL_ADDRESS } = EVM_WITHDRAWALS[0]!.value as { address: string };
const READER = `0x${"00".repeat(18)}1234`;
const HIGHEST = `0x${"f".repeat(64)}`;
/** Returns BALANCE of the withdrawal address by way of the memory, and stores it in slot 0. */
const READER_CODE = `0x73${WITHDRAWAL_ADDRESS.slice(2)}318060005260005560206000f3`;

it("keeps the balance of a withdrawal address within 256 bits, and executes its blocks again", async () => {
  const directory = tempDirectory();
  const first = await openEvmChain({}, directory);
  await first.advance(1);
  await first.call("anvil_setCode", [READER, READER_CODE]);
  await first.call("anvil_setBalance", [WITHDRAWAL_ADDRESS, HIGHEST]);
  await first.advance(10);
  expect(first.engine.head.withdrawals!.length).toBeGreaterThan(0);
  const raw = first.sign(0, { to: bytesOf(READER) });
  const hash = await first.call("eth_sendRawTransaction", [hexOf(raw)]);
  await first.advance(1);
  expect(await first.call("eth_getTransactionReceipt", [hash])).toMatchObject({ status: "0x1" });
  const readBalances = ({ call }: typeof first) =>
    Promise.all([
      call("eth_getBalance", [WITHDRAWAL_ADDRESS, "latest"]),
      call("eth_call", [{ to: READER }, "latest"]),
      call("eth_getStorageAt", [READER, "0x0", "latest"]),
    ]);
  expect(await readBalances(first)).toEqual([HIGHEST, HIGHEST, HIGHEST]);
  first.expectHealth();
  await first.close();

  const second = await openEvmChain({}, directory);
  expect(await readBalances(second)).toEqual([HIGHEST, HIGHEST, HIGHEST]);
  second.expectHealth();

  const tooHigh = `0x1${"0".repeat(64)}`;
  expect(await second.error("anvil_setBalance", [READER, tooHigh])).toMatchObject({ code: -32602 });
  const override = { [READER]: { balance: tooHigh } };
  expect(await second.error("eth_call", [{ to: READER }, "latest", override])).toMatchObject({ code: -32602 });
});
