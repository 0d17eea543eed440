import { expect, it } from "vitest";
import { refusal, settingsInTemporaryDirectory } from "../../../../test/support/cli/flags/settings.ts";

const { dev } = settingsInTemporaryDirectory();
const ethRpc = (...args: Parameters<typeof dev>) => dev(...args).servers.ethRpc;

it("serves eth_* of a chain with the EVM on port 8545 or the next free one", () => {
  expect(ethRpc(["--evm"])).toMatchObject({ host: "127.0.0.1", port: 8545, triesNextPorts: true });
  expect(ethRpc(["--evm", "--eth-rpc-port", "8545"])).toMatchObject({ port: 8545, triesNextPorts: false });
  expect(ethRpc(["--evm", "--no-eth-rpc"])).toBeUndefined();
  expect(ethRpc(["--evm"], { FANAL_ETH_RPC_PORT: "0" })).toMatchObject({ port: 0 });
});

it("exposes it to other machines only with a token or on demand", () => {
  const exposed = ["--evm", "--eth-rpc-address", "0.0.0.0"];
  expect(refusal(() => dev(exposed))).toContain("--rpc-token-file FILE");
  expect(ethRpc([...exposed, "--rpc-token-file", "t"])).toMatchObject({ host: "0.0.0.0" });
  expect(ethRpc([...exposed, "--rpc-allow-anyone"])).toMatchObject({ host: "0.0.0.0" });
});

it("rejects a port that another server uses", () => {
  const flags = ["--evm", "--rest", "--rest-port", "8545"];
  expect(refusal(() => dev([...flags, "--eth-rpc-port", "8545"]))).toContain("--eth-rpc-port and --rest-port");
  expect(ethRpc(flags)).toMatchObject({ triesNextPorts: true });
});
