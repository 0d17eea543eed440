import { describe, expect, it } from "vitest";
import { refusal, settingsInTemporaryDirectory } from "./settings.test-support.ts";

const { dev, file } = settingsInTemporaryDirectory();

describe("config file", () => {
  it("accepts YAML and keeps scalars as written", () => {
    const config = file("a.yml", "rpc: true\ngraffiti: 0x1234\nspeed: 2.5\nfork-at: [altair=1, bellatrix=2]\n");
    const { servers, speed, chain, forks } = dev(["--config-file", config]);
    expect(servers.jsonRpc).toBeDefined();
    expect(speed).toBe(2.5);
    expect([...(chain.graffiti ?? [])].slice(0, 3)).toEqual([0x12, 0x34, 0]);
    expect(forks).toHaveLength(3);
  });

  it("accepts TOML", () => {
    const config = file(
      "a.toml",
      'rpc = true\nrpc-port = 80\nspeed = 2.5\nfork = "altair"\nfork-at = ["bellatrix=2"]\n',
    );
    expect(dev(["--config-file", config])).toMatchObject({ servers: { jsonRpc: { port: 80 } }, speed: 2.5 });
  });

  it("may be empty", () => {
    expect(dev(["--config-file", file("empty.yaml", "# nothing\n")])).toEqual(dev());
  });

  const refused: [name: string, text: string, complaint: RegExp][] = [
    ["u1.yaml", "rpc-prot: 1", /"rpc-prot" in the config file .*u1\.yaml\. Did you mean "rpc-port"/],
    ["u2.toml", "rpcPort = 1", /"rpcPort".*u2\.toml.*Did you mean "rpc-port"/],
    ["u3.yaml", "network: mainnet", /"network".*belongs to "fanal node"/],
    ["u4.yaml", "qqqqqqqq: 1", /"qqqqqqqq".*"fanal dev --help" lists the flags/],
    ["u5.yaml", "config-file: x.yaml", /cannot include another one/],
    ["v1.yaml", "rpc-port: 70000", /"70000" of the key "rpc-port" in the config file .*v1\.yaml.*from 0 to 65535/],
    ["v2.yaml", "rpc: yes", /"yes" of the key "rpc".*true or false/],
    ["v3.yaml", "rpc:", /"" of the key "rpc".*true or false/],
    ["v4.yaml", "rpc-port: [1]", /"rpc-port".*v4\.yaml must be a number/],
    ["v5.toml", "graffiti = 0x1234", /"graffiti".*v5\.toml must be a text/],
    ["v6.toml", "rpc-port = true", /"rpc-port".*must be a number/],
    ["v7.yaml", "fork-at: {altair: 1}", /"fork-at".*must be a list of texts/],
    ["w1.yaml", "- rpc", /must hold keys and values/],
    ["w2.yaml", "rpc: [", /w2\.yaml is not valid: /],
    ["w3.toml", "rpc = ", /w3\.toml is not valid: /],
    ["w4.json", "{}", /Unsupported config file .*w4\.json/],
    ["w5.yaml", "data-dir: a\ndatadir: b", /sets --data-dir twice/],
  ];
  for (const [name, text, complaint] of refused) {
    it(`rejects ${JSON.stringify(text)} in ${name}`, () => {
      expect(refusal(() => dev(["--config-file", file(name, text)]))).toMatch(complaint);
    });
  }

  it("must exist", () => {
    expect(refusal(() => dev(["--config-file", "gone.yaml"]))).toMatch(/gone\.yaml cannot be read: ENOENT/);
  });
});
