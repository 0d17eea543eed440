import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EXIT_CODES, StartupError } from "../../exit.ts";
import { BUILT_IN_NETWORKS, resolveNetwork } from "./preset.ts";

describe("network and preset", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "fanal-preset-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function network(name: string, config?: string): string {
    mkdirSync(join(folder, name));
    if (config !== undefined) writeFileSync(join(folder, name, "config.yaml"), config);
    return name;
  }

  function refusal(name: string): StartupError {
    try {
      resolveNetwork(name, folder);
    } catch (error) {
      if (error instanceof StartupError) return error;
    }
    throw new Error(`The network ${name} was not refused.`);
  }

  it("has the networks and presets of the consensus library", async () => {
    const { networksChainConfig } = await import("@lodestar/config/networks");
    const presets = Object.entries(networksChainConfig).map(([name, config]) => [name, config.PRESET_BASE]);
    expect(BUILT_IN_NETWORKS).toEqual(Object.fromEntries(presets));
  });

  it("accepts a name", () => {
    expect(resolveNetwork("sepolia", folder)).toEqual({ name: "sepolia", directory: undefined, preset: "mainnet" });
    expect(resolveNetwork("gnosis", folder).preset).toBe("gnosis");
  });

  it("accepts a directory and reads the preset from its config.yaml", () => {
    network("devnet", "# a comment\nPRESET_BASE: 'minimal'\nDEPOSIT_CONTRACT_ADDRESS: 0x1234\n");
    const directory = join(folder, "devnet");
    expect(resolveNetwork("devnet", folder)).toEqual({ name: "devnet", directory, preset: "minimal" });
    expect(resolveNetwork(`${directory}/`, "/")).toEqual({ name: "devnet", directory, preset: "minimal" });
  });

  it("suggests the nearest name for an unknown network", () => {
    const { message, exitCode } = refusal("mainet");
    expect(message).toMatch(/"mainet": neither .* nor a directory\. Did you mean mainnet\?/);
    expect(exitCode).toBe(EXIT_CODES.usage);
    expect(refusal("constructor").exitCode).toBe(EXIT_CODES.usage);
  });

  it("rejects a path that cannot be read", () => {
    symlinkSync("loop", join(folder, "loop"));
    const { message, exitCode } = refusal("loop");
    expect(message).toMatch(/^--network ".*loop" cannot be read: ELOOP: [^,]*\. Check the path/);
    expect(exitCode).toBe(EXIT_CODES.unreadableInput);
    expect(refusal("a\0b").message).toMatch(/^Unknown network "a\\u0000b": neither/);
    expect(refusal("a".repeat(5000)).message).toMatch(/^Unknown network "a{80}…": neither/);
    const twice = refusal(network("twice", "PRESET_BASE: minimal\nPRESET_BASE: minimal\n"));
    expect(twice.message).toMatch(/ at line 2, column 1\.$/);
  });

  it("rejects a directory whose config.yaml is missing, malformed or without a known preset", () => {
    const cases: [name: string, complaint: RegExp][] = [
      [network("empty"), /empty\/config\.yaml cannot be read: ENOENT/],
      [network("broken", "PRESET_BASE: ["), /broken\/config\.yaml cannot be read/],
      [network("silent", "CONFIG_NAME: x"), /has no PRESET_BASE; it must be mainnet, minimal or gnosis/],
      [network("strange", "PRESET_BASE: huge"), /has the PRESET_BASE "huge"/],
    ];
    for (const [name, complaint] of cases) {
      expect(refusal(name).message).toMatch(complaint);
      expect(refusal(name).exitCode).toBe(EXIT_CODES.unreadableInput);
    }
  });
});
