import { expect, it } from "vitest";
import { refusal, settingsInTemporaryDirectory } from "../../../../test/support/cli/flags/settings.ts";

const { dev } = settingsInTemporaryDirectory();
const signer = (...flags: string[]) => dev(flags).servers.signer;

it("serves the signer only with a port, on loopback", () => {
  expect(signer()).toBeUndefined();
  expect(signer("--signer-port", "9000")).toMatchObject({ host: "127.0.0.1", port: 9000 });
  expect(refusal(() => signer("--signer-address", "127.0.0.1"))).toContain("requires --signer-port");
});

it("exposes it to other machines only with the token of --rest or on demand", () => {
  const exposed = ["--signer-port", "9000", "--signer-address", "0.0.0.0"];
  expect(refusal(() => signer(...exposed))).toContain("--rest-token-file FILE");
  expect(signer(...exposed, "--rest-token-file", "t")?.access.tokenFile).toMatch(/t$/);
  expect(signer(...exposed, "--rest-allow-anyone")).toMatchObject({ host: "0.0.0.0" });
});

it("rejects a port that another server uses", () => {
  const message = refusal(() => signer("--rest", "--rest-port", "9000", "--signer-port", "9000"));
  expect(message).toContain("--signer-port and --rest-port both use port 9000");
});
