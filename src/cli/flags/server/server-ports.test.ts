import { describe, expect, it } from "vitest";
import { refusal, settingsInTemporaryDirectory } from "../../../../test/support/cli/flags/settings.ts";

const { dev, gateway } = settingsInTemporaryDirectory();

describe("server ports", () => {
  const both = ["--rpc", "--rest"];

  it("must differ", () => {
    const sentence = refusal(() => dev([...both, "--rpc-port", "7777", "--rest-port", "7777"]));
    expect(sentence).toBe("--rpc-port and --rest-port both use port 7777 of 127.0.0.1. Give each a different port.");
    expect(refusal(() => dev(["--metrics", "--rest", "--rest-port", "8008"]))).toMatch(
      /^--rest-port and --metrics-port both use port 8008 /,
    );
    expect(refusal(() => gateway(["--upstream", "http://127.0.0.1:1", "--rpc-port", "5052"]))).toMatch(
      /^--rpc-port and --rest-port both use port 5052 /,
    );
  });

  it("must differ from those of a server on an unspecified address", () => {
    const same = [...both, "--rpc-port", "7777", "--rest-port", "7777", "--rpc-allow-anyone", "--rest-allow-anyone"];
    for (const [rpc, rest] of [
      ["0.0.0.0", "127.0.0.1"],
      ["127.0.0.1", "::"],
      ["::", "::1"],
    ] as const) {
      expect(
        refusal(() => dev([...same, "--rpc-address", rpc, "--rest-address", rest])),
        `${rpc} ${rest}`,
      ).toMatch(/both use port 7777/);
    }
    for (const [rpc, rest] of [
      ["127.0.0.1", "127.0.0.2"],
      ["0.0.0.0", "::1"],
    ] as const) {
      expect(dev([...same, "--rpc-address", rpc, "--rest-address", rest])).toMatchObject({
        servers: { rest: { port: 7777 } },
      });
    }
  });

  it("may be equal if they are 0 or a server is off", () => {
    expect(dev([...both, "--rpc-port", "0", "--rest-port", "0"])).toMatchObject({
      servers: { jsonRpc: { port: 0 }, rest: { port: 0 } },
    });
    expect(dev(["--rpc", "--rpc-port", "7777", "--rest-port", "7777"]).servers.rest).toBeUndefined();
  });
});
