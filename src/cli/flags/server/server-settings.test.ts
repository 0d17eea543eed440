import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { refusal, settingsInTemporaryDirectory } from "../../../../test/support/cli/flags/settings.ts";

const { folder, dev } = settingsInTemporaryDirectory();

describe("server access", () => {
  it("is set for each server separately", () => {
    const rpc = "--rpc --rpc-vhosts Node.Example,other_host --rpc-api read,debug";
    const { servers } = dev(`${rpc} --rest --rest-allow-origin * --rest-token-file token`.split(" "));
    expect(servers.jsonRpc?.access).toEqual({
      trustedProxies: [],
      virtualHosts: ["node.example", "other_host"],
      allowedOrigins: [],
      classes: ["read", "debug"],
      tokenFile: undefined,
    });
    expect(servers.rest?.access).toEqual({
      trustedProxies: [],
      virtualHosts: [],
      allowedOrigins: ["*"],
      classes: undefined,
      tokenFile: join(folder, "token"),
    });
  });

  it.each(["rpc", "rest"])("must be decided for --%s on an address that other machines can reach", (server) => {
    const open = [`--${server}-address`, "0.0.0.0", `--${server}`];
    const complaint = refusal(() => dev(open));
    for (const flag of ["address 0.0.0.0", "token-file FILE", "allow-anyone"]) {
      expect(complaint).toContain(`--${server}-${flag}`);
    }
    for (const address of ["::", "192.0.2.1", "node.lan"]) {
      expect(refusal(() => dev([`--${server}-address`, address, `--${server}`]))).toContain(
        "exposes the server to other machines",
      );
    }
    for (const way of [[`--${server}-token-file`, "t"], [`--${server}-allow-anyone`], [`--no-${server}`]]) {
      expect(() => dev([...open, ...way])).not.toThrow();
    }
    for (const address of ["127.0.0.2", "::1", "localhost"]) {
      expect(() => dev([`--${server}-address`, address, `--${server}`])).not.toThrow();
    }
  });
});
