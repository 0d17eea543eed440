import { expect, it } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { ProgramHere } from "../support/program/program-here.ts";

const CONTRACT = `0x${"c0".repeat(20)}`;
/** Maps a number to a point of BLS12-381, one of the slowest precompiles for its gas, until the gas is used up. */
const ENDLESS = "0x6001603f535b6080608060405f60105afa50600556";
/** Takes longer than a sixth of a slot. */
const GAS = "0xf42400";
const TRANSACTIONS = 3;

it("a chain with heavy transactions includes one per block, so that its slots are not late", async () => {
  const flags = ["--evm", "--validators", "16", "--slot-seconds", "2", "--warmup-epochs", "0"];
  const program = await ProgramHere.dev([...flags, "--data-dir", tempDirectory()]);
  // Slots that have passed before are made up without a limit.
  await program.callUntil<{ speed: number }>("getChainTime", ({ speed }) => speed > 0);
  await program.call("anvil_setCode", [CONTRACT, ENDLESS]);
  const accounts = await program.call<string[]>("eth_accounts");
  const transactions = accounts.slice(0, TRANSACTIONS).map((from) => ({ from, to: CONTRACT, gas: GAS }));
  const hashes = await Promise.all(transactions.map((sent) => program.call<string>("eth_sendTransaction", [sent])));
  await program.callUntil<{ pending: string }>("txpool_status", ({ pending }) => pending === "0x0");
  const receipts = await Promise.all(hashes.map((hash) => program.call("eth_getTransactionReceipt", [hash])));
  expect(new Set(receipts.map(({ blockNumber }) => blockNumber)).size).toBe(TRANSACTIONS);
});
