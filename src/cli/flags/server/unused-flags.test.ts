import { expect, it } from "vitest";
import { unusedFlagWarnings } from "./unused-flags.ts";

const OFF = { rpc: false, rest: false, metrics: false };
const commandLine = (...names: string[]) => ({ flagTexts: new Map(names.map((name) => [name, []])) });

it("warns of flags of servers that are off", () => {
  expect(unusedFlagWarnings(commandLine("rpc-port", "data-dir", "rest-address", "rest-port"), OFF)).toEqual([
    "--rpc-port has no effect without --rpc",
    "--rest-address, --rest-port have no effect without --rest",
  ]);
});

it("counts the access flags of --rpc as used by --eth-rpc", () => {
  const flags = commandLine("rpc-port", "rpc-token-file", "eth-rpc-port");
  expect(unusedFlagWarnings(flags, { ...OFF, ethRpc: true })).toEqual(["--rpc-port has no effect without --rpc"]);
  expect(unusedFlagWarnings(flags, { ...OFF, ethRpc: false })).toEqual([
    "--rpc-port, --rpc-token-file have no effect without --rpc",
    "--eth-rpc-port has no effect without --eth-rpc",
  ]);
});

it("counts the access flags of --rest as used by the signer", () => {
  const flags = commandLine("rest-port", "rest-token-file", "signer-port");
  expect(unusedFlagWarnings(flags, { ...OFF, signerPort: 9000 })).toEqual(["--rest-port has no effect without --rest"]);
});

it("accepts flags of servers that are on", () => {
  expect(unusedFlagWarnings(commandLine("rpc-port", "rest", "rest-port"), { ...OFF, rpc: true, rest: true })).toEqual(
    [],
  );
  expect(unusedFlagWarnings(commandLine("validators"), OFF)).toEqual([]);
});
