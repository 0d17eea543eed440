import { networksChainConfig } from "@lodestar/config/networks";
import { expect, it } from "vitest";
import { loadNetworkConfig } from "./network-config.ts";

it("schedules forks of a built-in network that the library does not know yet", () => {
  const config = loadNetworkConfig({ name: "sepolia", directory: undefined });
  expect(config).toEqual({ ...networksChainConfig.sepolia, GLOAS_FORK_EPOCH: 353_024 });
  expect(loadNetworkConfig({ name: "mainnet", directory: undefined })).toEqual(networksChainConfig.mainnet);
});
