import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { optionsInTemporaryDirectory } from "./options.test-support.ts";

const { folder, dev, file } = optionsInTemporaryDirectory();

describe("precedence", () => {
  it("is flag, then environment, then config file, then default", () => {
    const config = file("order.yaml", "rpc-port: 1\nvalidators: 10\nslot-seconds: 4\n");
    const environment = { FANAL_RPC_PORT: "2", FANAL_VALIDATORS: "20", FANAL_CONFIG_FILE: config };
    expect(dev(["--rpc-port", "3"], environment)).toMatchObject({
      rpcPort: 3,
      validators: 20,
      slotSeconds: 4,
      warmupEpochs: 5,
    });
  });

  it("lets --no-rpc beat what the environment or the file switches on", () => {
    const config = file("on.yaml", "rpc: true\n");
    expect(dev(["--config-file", config]).rpc).toBe(true);
    expect(dev(["--config-file", config], { FANAL_RPC: "false" }).rpc).toBe(false);
    expect(dev(["--config-file", config, "--no-rpc"], { FANAL_RPC: "1" }).rpc).toBe(false);
  });

  it("takes an empty variable for none, and aliases for the names they stand for", () => {
    expect(dev([], { FANAL_RPC_PORT: "" }).rpcPort).toBe(9190);
    expect(dev([], { FANAL_DATADIR: "elsewhere" }).dataDir).toBe(join(folder, "elsewhere"));
    expect(dev(["--config-file", file("alias.yaml", "datadir: there")]).dataDir).toBe(join(folder, "there"));
  });

  it("takes a flag that is given twice, be it by two names: the last counts, and of a repeatable one all do, in their order", () => {
    const urls = (...argv: string[]) => dev(argv).execution?.urls;
    expect(urls("--el", "http://a", "--el", "http://b")).toEqual(["http://a", "http://b"]);
    expect(urls("--web3-url", "http://a", "--el", "http://b")).toEqual(["http://a", "http://b"]);
    expect(urls("--el=http://a", "--web3-url=http://b,http://c", "--el=http://d")).toEqual(
      ["a", "b", "c", "d"].map((host) => `http://${host}`),
    );
    expect(dev(["--data-dir", "a", "--data-dir", "b"]).dataDir).toBe(join(folder, "b"));
    expect(dev(["--data-dir", "a", "--datadir", "b"]).dataDir).toBe(join(folder, "b"));
    expect(dev(["--datadir", "b", "--data-dir", "a"]).dataDir).toBe(join(folder, "a"));
    expect(dev(["--rpc", "--no-rpc"]).rpc).toBe(false);
    expect(dev(["--no-rpc", "--rpc"]).rpc).toBe(true);
  });
});
