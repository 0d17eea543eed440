import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { refusal, settingsInTemporaryDirectory } from "../../../../test/support/cli/flags/settings.ts";
import { FUNDED_ADDRESSES } from "../../../evm/accounts.ts";

const { folder, dev, node } = settingsInTemporaryDirectory();

describe("execution clients", () => {
  const [first, second] = ["http://127.0.0.1:8551", "https://el.example/"];

  it("keep their order, with the secret in the data directory by default", () => {
    expect(node(["--el", first, "--el", second, "--data-dir", "d"]).execution).toEqual({
      urls: [first, second],
      jwtSecretFile: join(folder, "d/jwt.hex"),
    });
    expect(dev(["--web3-url", first, "--jwt-secret", "s.hex"]).execution).toEqual({
      urls: [first],
      jwtSecretFile: join(folder, "s.hex"),
    });
    const respelled = ["--el", "http://[::1]:1", "--el", second, "--el", "HTTP://[0:0::1]:1/"];
    expect(node(respelled).execution?.urls).toEqual(["http://[::1]:1", second]);
    expect(dev([], { FANAL_EL: `${first},${second}` }).execution?.urls).toEqual([first, second]);
  });

  it("are rejected in conflict with other flags", () => {
    expect(refusal(() => dev(["--el", "127.0.0.1:8551"]))).toContain("it must be a URL that begins with http://");
    const withPassword = refusal(() => dev(["--el", "http://me:secret@127.0.0.1:99999"]));
    expect(withPassword).toContain(
      '"http://…@127.0.0.1:99999" of --el is not accepted: it is not a URL: its host or port',
    );
    expect(refusal(() => node(["--jwt-secret", "s.hex"]))).toContain("requires --el");
    expect(refusal(() => dev(["--el", first, "--speed", "2"]))).toContain("--el and --speed 2 are mutually exclusive");
    for (const refused of [dev, node]) {
      const complaint = refusal(() => refused(["--el", first, "--dev-blobs", "3", "--dev-validators", "all"]));
      expect(complaint).toContain("--dev-blobs and --el are mutually exclusive");
    }
  });
});

describe("EVM", () => {
  it("is on by default, with the chain id of anvil", () => {
    expect(dev(["--no-evm"]).evm).toBeUndefined();
    expect(dev([]).evm).toEqual({ chainId: 31_337 });
    expect(dev(["--evm"]).evm).toEqual({ chainId: 31_337 });
    expect(dev(["--chain-id", "5"]).evm).toEqual({ chainId: 5 });
    expect([dev(["--no-evm"]).withdrawals, dev([]).withdrawals]).toEqual([
      undefined,
      [{ value: { prefix: "0x01", address: FUNDED_ADDRESSES.at(-1)?.toLowerCase() } }],
    ]);
    expect(dev(["--evm", "--withdrawal-credentials", "0x00"]).withdrawals).toEqual([{ value: { prefix: "0x00" } }]);
  });

  it("excludes execution clients, deposit contracts and dev blobs", () => {
    const [el, contract] = ["http://127.0.0.1:8551", `0x${"42".repeat(20)}`];
    expect(refusal(() => dev(["--evm", "--el", el]))).toContain("--evm and --el are mutually exclusive");
    expect(refusal(() => dev(["--evm", "--deposit-contract", contract, "--fork", "electra"]))).toContain(
      "--evm and --deposit-contract are mutually exclusive",
    );
    expect(refusal(() => dev(["--evm", "--dev-blobs", "1"]))).toContain("--dev-blobs and --evm are mutually exclusive");
    expect(refusal(() => dev(["--no-evm", "--chain-id", "5"]))).toContain("--chain-id requires the EVM");
  });

  it.each([
    ["an execution client", ["--el", "http://127.0.0.1:8551"]],
    ["a deposit contract", ["--deposit-contract", `0x${"42".repeat(20)}`, "--fork", "electra"]],
    ["dev blobs", ["--dev-blobs", "1"]],
    ["a start before bellatrix", ["--fork", "altair", "--fork-at", "bellatrix=1"]],
  ])("is off by default with %s", (_, flags) => {
    expect(dev(flags).evm).toBeUndefined();
    expect(refusal(() => dev([...flags, "--chain-id", "5"]))).toContain("--chain-id requires the EVM");
  });
});
