import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { settingsInTemporaryDirectory } from "../../../test/support/cli/flags/settings.ts";

const { folder, dev, file } = settingsInTemporaryDirectory();

describe("precedence", () => {
  it("is flag, then environment, then config file, then default", () => {
    const config = file("order.yaml", "rpc-port: 1\nvalidators: 10\nslot-seconds: 4\n");
    const environment = { FANAL_RPC_PORT: "2", FANAL_VALIDATORS: "20", FANAL_CONFIG_FILE: config };
    expect(dev(["--rpc", "--rpc-port", "3"], environment)).toMatchObject({
      servers: { jsonRpc: { port: 3 } },
      validators: 20,
      slotSeconds: 4,
      warmupEpochs: 5,
    });
  });

  it("lets --no-rpc override the environment and the config file", () => {
    const config = file("on.yaml", "rpc: true\n");
    const isOn = (...args: Parameters<typeof dev>) => dev(...args).servers.jsonRpc !== undefined;
    expect(isOn(["--config-file", config])).toBe(true);
    expect(isOn(["--config-file", config], { FANAL_RPC: "false" })).toBe(false);
    expect(isOn(["--config-file", config, "--no-rpc"], { FANAL_RPC: "1" })).toBe(false);
    expect(isOn(["--rpc", "--no-rpc"])).toBe(false);
    expect(isOn(["--no-rpc", "--rpc"])).toBe(true);
  });

  it("ignores empty variables and accepts aliases", () => {
    expect(dev([], { FANAL_VALIDATORS: "" }).validators).toBe(64);
    expect(dev([], { FANAL_DATADIR: "elsewhere" }).dataDir).toBe(join(folder, "elsewhere"));
    expect(dev(["--config-file", file("alias.yaml", "datadir: there")]).dataDir).toBe(join(folder, "there"));
  });

  it("uses the last value of a repeated flag, and all values of a repeatable one in order", () => {
    const urls = (...argv: string[]) => dev(argv).execution?.urls;
    expect(urls("--el", "http://a", "--el", "http://b")).toEqual(["http://a", "http://b"]);
    expect(urls("--web3-url", "http://a", "--el", "http://b")).toEqual(["http://a", "http://b"]);
    expect(urls("--el=http://a", "--web3-url=http://b,http://c", "--el=http://d")).toEqual(
      ["a", "b", "c", "d"].map((host) => `http://${host}`),
    );
    expect(dev(["--data-dir", "a", "--data-dir", "b"]).dataDir).toBe(join(folder, "b"));
    expect(dev(["--data-dir", "a", "--datadir", "b"]).dataDir).toBe(join(folder, "b"));
    expect(dev(["--datadir", "b", "--data-dir", "a"]).dataDir).toBe(join(folder, "a"));
  });
});
