import { describe, expect, it } from "vitest";
import { refusal, settingsInTemporaryDirectory } from "../../../test/support/cli/flags/settings.ts";

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
    ["u1.yaml", "rpc-prot: 1", /^The config file u1\.yaml is not valid: rpc-prot is unknown; did you mean rpc-port\?$/],
    ["u2.toml", "rpcPort = 1", /u2\.toml is not valid: rpcPort is unknown; did you mean rpc-port\?$/],
    ["u3.yaml", "network: mainnet", /network belongs to "fanal node"/],
    ["u4.yaml", "qqqqqqqq: 1", /qqqqqqqq is unknown; "fanal dev --help" lists the flags\.$/],
    ["u5.yaml", "config-file: x.yaml", /cannot include another one/],
    ["v1.yaml", "rpc-port: 70000", /v1\.yaml is not valid: rpc-port must be .* from 0 to 65535, got "70000"\.$/],
    ["v2.yaml", "rpc: yes", /: rpc must be true or false, got "yes"\.$/],
    ["v3.yaml", "rpc:", /: rpc must be true or false, got an empty value\.$/],
    ["v4.yaml", "rpc-port: [1]", /v4\.yaml is not valid: rpc-port must be a number, got a list\.$/],
    ["v5.toml", "graffiti = 0x1234", /v5\.toml is not valid: graffiti must be a text, got 4660\.$/],
    ["v6.toml", "rpc-port = true", /rpc-port must be a number, got true\.$/],
    ["v7.yaml", "fork-at: {altair: 1}", /fork-at must be a list of texts, got a map\.$/],
    ["v8.yaml", "fork-at: [[altair=1]]", /fork-at\[0\] must be a text, got a list\.$/],
    ["v9.yaml", "fork-at: [altair=1, soon]", /fork-at\[1\] .*"soon"\.$/],
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

  it("lists all problems in the order of the file, with those of flags and variables", () => {
    const yaml = "speed: fast\nsped: 2\nfork-at: [1, { a: 1 }]\nrpc-port: 80";
    const problems = refusal(() =>
      dev(["--config-file", file("all.yaml", yaml), "--rpc-port", "x"], { FANAL_FRK: "1" }),
    );
    expect(problems.split("\n")).toEqual([
      "The flags and the config file all.yaml have 6 problems:",
      "  Unknown environment variable FANAL_FRK. Did you mean FANAL_FORK?",
      '  The value "x" of --rpc-port is not accepted: it must be a whole number from 0 to 65535',
      expect.stringMatching(/^ {2}speed must be a number .*, got "fast"$/),
      "  sped is unknown; did you mean speed?",
      expect.stringMatching(/^ {2}fork-at\[\d\] /),
      expect.stringMatching(/^ {2}fork-at\[\d\] /),
    ]);
  });

  it("must exist", () => {
    expect(refusal(() => dev(["--config-file", "gone.yaml"]))).toMatch(/gone\.yaml cannot be read: ENOENT/);
  });
});
