import { fileURLToPath } from "node:url";
import hardhatEthers from "@nomicfoundation/hardhat-ethers";
import hardhatNetworkHelpers from "@nomicfoundation/hardhat-network-helpers";
import hardhatNodeTestRunner from "@nomicfoundation/hardhat-node-test-runner";
import hardhatViem from "@nomicfoundation/hardhat-viem";
import hardhatViemAssertions from "@nomicfoundation/hardhat-viem-assertions";
import { defineConfig } from "hardhat/config";

export default defineConfig({
  plugins: [hardhatEthers, hardhatNetworkHelpers, hardhatNodeTestRunner, hardhatViem, hardhatViemAssertions],
  // The compiler of npm, so that none is downloaded.
  solidity: { version: "0.8.37", path: fileURLToPath(import.meta.resolve("solc/soljson.js")) },
  networks: {
    external: { type: "http", chainType: "l1", url: process.env.ETH_RPC_URL },
  },
});
