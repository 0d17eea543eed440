import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { refusal, settingsInTemporaryDirectory } from "../../../../test/support/cli/flags/settings.ts";

const { folder, dev, node, file } = settingsInTemporaryDirectory();

describe("network settings", () => {
  const id = "16Uiu2HAm5hPxT7s3TA2f4b4YjAPzS7yLRSgdj87ysDZ6NAXMiRuY";
  const record = (name: string) => `enr:-${name.repeat(30)}`;

  it("come from flags, and are undefined with --no-p2p", () => {
    const flags = `--p2p-port 0 --p2p-address :: --target-peers 3 --no-discovery --supernode --peer /ip4/192.0.2.1/tcp/1/p2p/${id}
      --peer /dns4/a.example/tcp/65535/p2p/${id},/ip6/::1/tcp/9000/p2p/${id} --bootnodes ${record("Ab_")},${record("c-9")}`;
    const { networking } = node(flags.split(/\s+/));
    expect(networking).toEqual({
      address: "::",
      port: 0,
      discovery: false,
      targetPeers: 3,
      supernode: true,
      bootnodes: [record("Ab_"), record("c-9")],
      directPeers: [
        `/ip4/192.0.2.1/tcp/1/p2p/${id}`,
        `/dns4/a.example/tcp/65535/p2p/${id}`,
        `/ip6/::1/tcp/9000/p2p/${id}`,
      ],
    });
    expect(node(["--no-p2p"]).networking).toBeUndefined();
    expect(node([], { FANAL_P2P: "false" }).networking).toBeUndefined();
    const local = { address: "127.0.0.1", port: 9000, discovery: true };
    expect(dev(["--p2p"]).networking).toMatchObject({ ...local, supernode: true });
    expect(dev(["--p2p", "--no-supernode"]).networking).toMatchObject({ supernode: false });
  });

  it("collect distinct bootnodes from flags, files and the network directory", () => {
    const lines = `# two nodes\n\n${record("a")} # the first\r\n${record("b")}\n`;
    const list = `---\n- "${record("c")}"\n- '${record("b")}'\n- ${record("d")}\n`;
    mkdirSync(join(folder, "net"));
    file("net/config.yaml", "PRESET_BASE: 'minimal'\n");
    file("net/boot_enr.yaml", `- "${record("e")}"\n`);
    file("net/bootstrap_nodes.txt", `${record("e")}\n${record("a")}\n`);
    file("net/bootstrap_nodes.yaml", "[]\n");
    const argv = ["--network", "net", "--bootnodes", file("nodes.txt", lines), "--bootnodes", file("nodes.yaml", list)];
    expect(node([...argv, "--bootnodes", record("d")]).networking?.bootnodes).toEqual(
      ["a", "b", "c", "d", "e"].map(record),
    );
    const damaged = ["--bootnodes", file("damaged.txt", `${record("a")}\nenode://1234\n`)];
    expect(() => node(damaged)).toThrow(
      /Invalid bootnodes in .*damaged\.txt: line 2 is not a record such as enr:-…\.$/,
    );
    expect(() => node(["--bootnodes", "gone.txt"])).toThrow(/gone\.txt cannot be read: ENOENT/);
  });

  it("require real time on a dev chain", () => {
    expect(dev(["--p2p", "--speed", "1.0"]).networking).toBeDefined();
    expect(refusal(() => dev(["--p2p", "--speed", "2"]))).toBe(
      "--p2p and --speed 2 are mutually exclusive: a chain with peers runs in real time.",
    );
    expect(refusal(() => dev(["--bootnodes", record("a")]))).toMatch(/^--bootnodes requires --p2p/);
    expect(refusal(() => dev(["--peer", `/ip4/127.0.0.1/tcp/1/p2p/${id}`]))).toMatch(/^--peer requires --p2p/);
  });
});

describe("checkpoint source", () => {
  it("is the finalized state of a REST API, with any base path", () => {
    for (const base of ["http://127.0.0.1:5052", "http://127.0.0.1:5052/", "https://example.org/some/api//"]) {
      const api = base.replace(/\/*$/, "/");
      expect(node(["--checkpoint-sync-url", base]).checkpoint).toEqual({
        state: `${api}eth/v2/debug/beacon/states/finalized`,
        block: undefined,
        api,
      });
    }
  });

  it("may be pinned to a block root", () => {
    const root = `0x${"Ab".repeat(32)}`;
    const argv = ["--checkpoint-state", "s.ssz", "--checkpoint-root"];
    const pinOf = (value: string) => node([...argv, value]).checkpoint?.pin;
    expect(pinOf(root)).toEqual({ root: root.toLowerCase(), epoch: undefined });
    expect(pinOf(`${root}:12`)).toEqual({ root: root.toLowerCase(), epoch: 12 });
    for (const wrong of ["12", root.slice(2), `${root}:`, `${root}:0x1`, `${root}:-1`, `${root}0`]) {
      expect(refusal(() => node([...argv, wrong]))).toContain("it must be a block root");
    }
    expect(refusal(() => node(["--checkpoint-root", root]))).toMatch(/^--checkpoint-root requires/);
  });

  it("may be a state and its block in files", () => {
    const argv = ["--checkpoint-state", "s.ssz", "--checkpoint-block", "b.ssz"];
    expect(node(argv).checkpoint).toEqual({
      state: join(folder, "s.ssz"),
      block: join(folder, "b.ssz"),
      api: undefined,
    });
    expect(refusal(() => node(argv.slice(2)))).toMatch(/^--checkpoint-block requires --checkpoint-state/);
    for (const rival of [argv.slice(0, 2), argv.slice(2)]) {
      expect(refusal(() => node([...rival, "--checkpoint-sync-url", "http://a"]))).toMatch(
        new RegExp(`^${rival[0]} and --checkpoint-sync-url are mutually exclusive`),
      );
    }
  });
});
