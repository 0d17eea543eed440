import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { refusal, settingsInTemporaryDirectory } from "../../../../test/support/cli/flags/settings.ts";
import { KNOWN_NETWORKS } from "../../../gateway/network/network-pin.ts";
import { DEFAULT_GATEWAY_SETTINGS } from "../../../gateway/settings.ts";
import { EXIT_CODES } from "../../exit.ts";

const { folder, gateway, file } = settingsInTemporaryDirectory();

const upstreamsOf = (...written: string[]) =>
  gateway(written.flatMap((text) => ["--upstream", text])).gateway.upstreams;

describe("upstreams", () => {
  it("are URLs, named after host and port", () => {
    expect(upstreamsOf("http://127.0.0.1:5052/", "https://beacon.example/path/")).toEqual([
      { name: "127.0.0.1:5052", url: "http://127.0.0.1:5052", tier: 0, weight: 1 },
      { name: "beacon.example", url: "https://beacon.example/path", tier: 0, weight: 1 },
    ]);
  });

  it("accept a tier, a weight, a name and a token file after the URL", () => {
    file("token", "  the-token-word\n");
    expect(upstreamsOf("http://a weight=3  tier=1 name=backup token-file=token")).toEqual([
      { name: "backup", url: "http://a", tier: 1, weight: 3, authorization: "Bearer the-token-word" },
    ]);
  });

  it("move credentials from the URL to the Authorization header", () => {
    const [upstream] = upstreamsOf("http://me:p%40ss@a:5052");
    expect(upstream).toEqual({
      name: "a:5052",
      url: "http://a:5052",
      tier: 0,
      weight: 1,
      authorization: `Basic ${Buffer.from("me:p@ss").toString("base64")}`,
    });
  });

  it("can be listed in a config file, or in a variable separated by commas", () => {
    const expected = [
      { name: "a", url: "http://a", tier: 0, weight: 1 },
      { name: "b", url: "http://b", tier: 2, weight: 1 },
    ];
    const yaml = file("gateway.yaml", "upstream:\n  - http://a\n  - http://b tier=2\n");
    expect(gateway(["--config-file", yaml]).gateway.upstreams).toEqual(expected);
    expect(gateway([], { FANAL_UPSTREAM: "http://a, http://b tier=2" }).gateway.upstreams).toEqual(expected);
  });

  it.each([
    ["127.0.0.1:5052", /must be a URL that begins with http/],
    ["http://a?b", /without \? and #/],
    ["http://a teir=1", /a word after the URL is no setting; allowed are name=…/],
    ["http://a tier", /its setting "tier" has no value/],
    ["http://a tier=1 tier=2", /has tier=… twice/],
    ["http://a weight=0", /its weight must be a whole number from 1 to 1000/],
    ["http://a name=a/b", /its name may contain/],
    ["http://me:secret@a token-file=token", /both credentials in the URL and a token-file/],
  ])("rejects %j", (written, reason) => {
    const complaint = refusal(() => upstreamsOf(written));
    expect(complaint).toMatch(reason);
    expect(complaint).not.toContain("secret");
  });

  it("omits the password of an invalid URL from the error", () => {
    expect(refusal(() => upstreamsOf("http://me:se/cret@a:x@b"))).toContain('"http://…@b"');
    const exposed = [
      "http://a/?apikey=SECRET",
      "http://a#SECRET",
      "http://a token=SECRET tier=1",
      "http://a SECRET",
      "http:/me:SECRET@a",
      "me:SECRET@a",
    ];
    for (const written of exposed) expect(refusal(() => upstreamsOf(written, "http://b"))).not.toContain("SECRET");
    expect(refusal(() => upstreamsOf("http://a?key=SECRET,http://b tier=1"))).toContain('"http://a?…"');
  });

  it("must be given, and must be distinct", () => {
    expect(refusal(() => gateway())).toMatch(/Missing upstream.* --upstream http/);
    expect(refusal(() => upstreamsOf("http://a:80", "http://A/"))).toBe("The upstream a is given twice.");
    expect(refusal(() => upstreamsOf("http://a/1", "http://a/2"))).toMatch(/Two upstreams have the name a\. /);
  });

  it("rejects a token file that is missing or holds several words", () => {
    const missing = join(folder, "missing");
    const attempt = (name: string) => () => upstreamsOf(`http://a token-file=${name}`);
    const unreadable = { exitCode: EXIT_CODES.unreadableInput };
    expect(attempt("missing")).toThrow(
      expect.objectContaining({ ...unreadable, message: expect.stringContaining(missing) }),
    );
    expect(attempt(file("words", "two words"))).toThrow(expect.objectContaining(unreadable));
  });
});

describe("gateway", () => {
  const TWO = ["--upstream", "http://a", "--upstream", "http://b"];

  it("serves JSON-RPC and REST on loopback by default", () => {
    expect(gateway(TWO)).toMatchObject({
      servers: { jsonRpc: { host: "127.0.0.1" }, rest: { host: "127.0.0.1" }, metrics: undefined },
      gateway: { ...DEFAULT_GATEWAY_SETTINGS, memoryBytes: 256 * 1024 * 1024, cache: undefined },
    });
    expect(refusal(() => gateway([...TWO, "--no-rpc", "--no-rest"]))).toMatch(/has no server/);
    expect(refusal(() => gateway([...TWO, "--rest-address", "0.0.0.0"]))).toMatch(/--rest-token-file/);
  });

  it("takes sizes in MiB, times in seconds and all cores as numbers", () => {
    const units = ["--memory", "2", "--drain-seconds", "3", "--workers", "all"];
    expect(gateway([...TWO, ...units]).gateway).toMatchObject({
      memoryBytes: 2 * 1024 * 1024,
      drainMillis: 3000,
      workers: availableParallelism(),
    });
  });

  it("limits quorum and broadcast to the number of upstreams", () => {
    expect(gateway([...TWO, "--quorum", "2", "--broadcast", "all"]).gateway).toMatchObject({
      quorum: 2,
      broadcast: "all",
    });
    expect(refusal(() => gateway([...TWO, "--quorum", "3"]))).toMatch(
      /--quorum 3 exceeds the number of upstreams, 2; lower it/,
    );
    expect(refusal(() => gateway([...TWO, "--broadcast", "3"]))).toMatch(/--broadcast 3 exceeds/);
    expect(refusal(() => gateway([...TWO, "--broadcast", "some"]))).toMatch(/from 1 to 1000, or "all"/);
  });

  it("pins the network by name, directory or genesis validators root", () => {
    const networkOf = (text: string) => gateway([...TWO, "--network", text]).gateway.network;
    expect(gateway(TWO).gateway.network).toBeUndefined();
    expect(networkOf("hoodi")).toEqual({ name: "hoodi", ...KNOWN_NETWORKS.hoodi });
    const root = `0x${"AB".repeat(32)}`;
    expect(networkOf(root)).toEqual({ name: root, genesisValidatorsRoot: root.toLowerCase() });
    const yaml = file("pinned.yaml", `upstream: [http://a]\nnetwork: ${root}\n`);
    expect(gateway(["--config-file", yaml]).gateway.network).toEqual(networkOf(root));

    mkdirSync(join(folder, "devnet"));
    const unreadable = expect.objectContaining({ exitCode: EXIT_CODES.unreadableInput });
    expect(() => networkOf("devnet")).toThrow(unreadable);
    const state = Buffer.alloc(100, 0xab);
    state.writeBigUInt64LE(1234n);
    const genesisFile = join(folder, "devnet", "genesis.ssz");
    writeFileSync(genesisFile, state);
    expect(networkOf("devnet")).toEqual({
      name: join(folder, "devnet"),
      genesisTime: 1234,
      genesisValidatorsRoot: root.toLowerCase(),
    });
    const configFile = join(folder, "devnet", "config.yaml");
    writeFileSync(configFile, "PRESET_BASE: 'minimal'\nSECONDS_PER_SLOT: 3\nGENESIS_FORK_VERSION: 0x10000001\n");
    expect(networkOf("devnet")).toMatchObject({
      genesisTime: 1234,
      constants: { presetBase: "minimal", secondsPerSlot: 3, slotsPerEpoch: 8, genesisForkVersion: "0x10000001" },
    });
    for (const text of ["CONFIG_NAME: devnet\n", "PRESET_BASE: minimal\nALTAIR_FORK_EPOCH: soon\n", "a: [\n"]) {
      writeFileSync(configFile, text);
      expect(() => networkOf("devnet")).toThrow(unreadable);
      expect(() => networkOf("devnet")).toThrow(/^The network file .*config\.yaml cannot be used: .*\w/);
    }
    for (const [name, value] of [
      ["GLOAS_FORK_EPOCH", ""],
      ["GLOAS_FORK_EPOCH", "1.5"],
      ["ALTAIR_FORK_EPOCH", "-1"],
      ["SECONDS_PER_SLOT", ""],
      ["SECONDS_PER_SLOT", "0"],
    ]) {
      writeFileSync(configFile, `PRESET_BASE: minimal\n${name}: ${value}\n`);
      expect(() => networkOf("devnet")).toThrow(unreadable);
      expect(() => networkOf("devnet")).toThrow(
        new RegExp(`^The network file .* cannot be used: ${name} must be a .* number, got "${value}"\\.$`),
      );
    }
    rmSync(configFile);
    writeFileSync(genesisFile, state.subarray(0, 39));
    expect(() => networkOf("devnet")).toThrow(unreadable);

    expect(refusal(() => networkOf("hodi"))).toMatch(/--network "hodi" is neither.*Did you mean hoodi/);
    expect(refusal(() => networkOf("0x12"))).toMatch(
      /--network "0x12" is not a genesis validators root.*64 hex digits/,
    );
    expect(refusal(() => networkOf("ephemery"))).toMatch(/changes every few weeks/);
  });

  it("reports a network whose directory cannot be read", () => {
    const networkOf = (text: string) => () => gateway([...TWO, "--network", text]);
    expect(refusal(networkOf("a\0b"))).toMatch(/^--network "a\\u0000b" is neither a built-in name/);
    const long = refusal(networkOf("a".repeat(5000)));
    expect(long).toMatch(/^--network "a{80}…" is neither a built-in name/);
    expect(long.length).toBeLessThan(300);
    expect(refusal(networkOf(`0x${"\0".repeat(5000)}`)).length).toBeLessThan(600);

    symlinkSync("loop", join(folder, "loop"));
    const unreadable = expect.objectContaining({ exitCode: EXIT_CODES.unreadableInput });
    expect(networkOf("loop")).toThrow(unreadable);
    expect(networkOf("loop")).toThrow(
      /^--network ".*loop" cannot be read: ELOOP: [^,]*\. Check the path, its symbolic/,
    );
    const yaml = file("loop.yaml", "upstream: [http://a]\nnetwork: loop\n");
    expect(() => gateway(["--config-file", yaml])).toThrow(
      /^The config file .* is not valid: network ".*loop" cannot be read: ELOOP/,
    );

    mkdirSync(join(folder, "linked"));
    const configFile = join(folder, "linked", "config.yaml");
    symlinkSync("config.yaml", configFile);
    expect(networkOf("linked")).toThrow(/config\.yaml cannot be used: ELOOP/);
    rmSync(configFile);
    writeFileSync(configFile, "PRESET_BASE: minimal\nPRESET_BASE: minimal\n");
    expect(networkOf("linked")).toThrow(/cannot be used: .* at line 2, column 1\.$/);
  });

  it("reads the cache password from a file or the URL", () => {
    const password = file("password", "p@ss/word\n");
    const { cache } = gateway([...TWO, "--cache", "redis://cache:6379/2", "--cache-password-file", password]).gateway;
    expect(cache).toEqual({ url: "redis://:p%40ss%2Fword@cache:6379/2", prefix: "fanal:", ttlSeconds: 86_400 });
    const both = ["--cache", "redis://:x@cache", "--cache-password-file", password];
    expect(refusal(() => gateway([...TWO, ...both]))).toMatch(/are mutually exclusive/);
    expect(refusal(() => gateway([...TWO, "--cache-seconds", "5"]))).toMatch(/--cache-seconds requires --cache/);
    expect(refusal(() => gateway([...TWO, "--cache", "http://cache"]))).toMatch(/redis:\/\//);
    for (const url of ["redis://:100%@cache", "redis://na%me@cache", "redis://:%ff@cache"]) {
      expect(refusal(() => gateway([...TWO, "--cache", url]))).toMatch(/not percent-encoded UTF-8/);
    }
  });
});
