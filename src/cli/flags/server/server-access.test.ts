import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { optionsInTemporaryDirectory, refusal } from "../options.test-support.ts";

const { folder, dev } = optionsInTemporaryDirectory();

describe("server access", () => {
  it("is said for each apart", () => {
    const options = dev(
      "--rpc-vhosts Node.Example,other_host --rpc-api read,debug --rest-allow-origin * --rest-token-file token".split(
        " ",
      ),
    );
    expect(options.rpcAccess).toMatchObject({ vhosts: ["node.example", "other_host"], api: ["read", "debug"] });
    expect(options.restAccess).toMatchObject({ allowOrigin: ["*"], api: undefined, tokenFile: join(folder, "token") });
  });

  it.each(["rpc", "rest"])("has to be said of --%s on an address of other machines", (server) => {
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
