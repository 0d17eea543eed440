import { describe, expect, it } from "vitest";
import { InteropKeys } from "../../dev/interop-keys.ts";
import { devBanner } from "./dev-banner.ts";

type Settings = Parameters<typeof devBanner>[0];

const access = { virtualHosts: [], allowedOrigins: [], classes: [], tokenFile: undefined };
const settings = {
  preset: "minimal",
  forks: [{ fork: "fulu", epoch: 0 }],
  validators: 64,
  slotSeconds: 6,
  speed: 1,
  evm: { chainId: 31337 },
  keys: { kind: "interop", start: 0 },
  servers: { jsonRpc: { host: "127.0.0.1", port: 9190, access, page: true } },
} as unknown as Settings;
const servers = {
  jsonRpcUrl: "http://127.0.0.1:9190",
  ethRpcUrl: "http://127.0.0.1:8545",
  restUrl: undefined,
  metricsUrl: undefined,
};
const devChain = { keys: new InteropKeys(64) };

describe("devBanner", () => {
  it("shows chain, accounts, validators, endpoints and three calls", () => {
    const lines = devBanner(settings, { devChain, servers }).split("\n");
    expect(lines[1]).toMatch(/^Fanal v?\d+\.\d+\.\d+.*: fulu, minimal preset, 64 validators, a slot every 6 s$/);
    expect(lines).toContain(
      "  (0) 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266  " +
        "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
    );
    expect(lines.filter((line) => /^ {2}\(\d\) 0x[0-9a-f]{96}$/.test(line))).toHaveLength(4);
    expect(lines).toContain("  JSON-RPC  http://127.0.0.1:9190        page in a browser");
    expect(lines).toContain("  Ethereum  http://127.0.0.1:8545        for viem, ethers, cast");
    expect(lines).toContain("  REST      off; --rest starts it");
    expect(lines.slice(lines.indexOf("Try") + 1, -1)).toHaveLength(3);
  });

  it("without the EVM has no accounts, and shows the page instead of an eth_* call", () => {
    const text = devBanner(
      { ...settings, evm: undefined },
      { devChain, servers: { ...servers, ethRpcUrl: undefined } },
    );
    expect(text).not.toContain("Accounts");
    expect(text).toContain("  open http://127.0.0.1:9190");
  });

  it("does not show secret keys of a mnemonic", () => {
    const keys = { kind: "mnemonic" } as unknown as Settings["keys"];
    const text = devBanner({ ...settings, keys }, { devChain, servers });
    expect(text).toContain("dev_keys returns the secret keys");
    expect(text).not.toContain(devChain.keys.secretKey(0)!.toHex());
  });
});
