import { describe, expect, it } from "vitest";
import { refusal, settingsInTemporaryDirectory } from "../../../../test/support/cli/flags/settings.ts";
import { DEFAULT_BUILDER_SETTINGS } from "../../../chain/production/builder-settings.ts";

const { dev, node } = settingsInTemporaryDirectory();

describe("builder", () => {
  it("is off without a URL, and has the defaults of other clients", () => {
    expect(node([]).builder).toBeUndefined();
    expect(dev(["--builder", "http://127.0.0.1:18550"]).builder).toEqual({
      url: "http://127.0.0.1:18550",
      ...DEFAULT_BUILDER_SETTINGS,
    });
  });

  it("is configured by flags", () => {
    const builder = ["--builder", "https://relay.example", "--builder-timeout", "500"];
    const trust = ["--builder-fallback-skips", "2", "--builder-fallback-skips-per-epoch", "4"];
    expect(node([...builder, ...trust, "--builder-boost-factor", "18446744073709551615"]).builder).toEqual({
      url: "https://relay.example",
      bidTimeoutMs: 500,
      boostFactor: 2n ** 64n - 1n,
      fallbackSkips: 2,
      fallbackSkipsPerEpoch: 4,
    });
    expect(refusal(() => node(["--builder-boost-factor", "18446744073709551616"]))).toContain("0 to 2^64-1");
    expect(refusal(() => node(["--builder-timeout", "5"]))).toMatch(/^--builder-timeout requires --builder,/);
    expect(refusal(() => node(["--builder", "relay.example"]))).toContain("begins with http:// or https://");
  });
});
