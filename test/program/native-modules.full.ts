import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { EXIT_CODES } from "../../src/cli/exit.ts";
import { missingNativeModuleMessage, platformName } from "../../src/runtime/native-modules.ts";
import { Program } from "../support/program/program.ts";
import { devWithoutBinariesOf, withoutBinariesOf } from "../support/program/without-binaries.ts";
import "./native-modules.test.ts";

const message = (name: string) => missingNativeModuleMessage({ package: name, platform: platformName() });

it("commands without a chain explain it too", async () => {
  const program = new Program(["methods"], withoutBinariesOf("@chainsafe/blst"));
  expect(await program.exited).toEqual({ code: EXIT_CODES.usage, signal: null });
  expect(program.lines).toEqual([`fanal: ${message("@chainsafe/blst")}`]);
});

it("a chain runs without the native hasher, with one notice", async () => {
  const program = devWithoutBinariesOf("@chainsafe/hashtree", "--warmup-epochs", "1");
  await program.untilLine(/Dev chain is running/);
  const notices = program.lines.filter((line) => line.includes("hasher"));
  expect(notices).toEqual([expect.stringMatching(/ NOTICE node +No native hasher .+ package=@chainsafe\/hashtree /)]);
  expect(program.complaints).toEqual([]);
});

it("without the native KZG package blobs are verified in JavaScript, with one notice", async () => {
  const name = "@crate-crypto/node-eth-kzg";
  const flags = ["--kzg", "auto", "--warmup-epochs", "1", "--dev-blobs", "1", "--p2p", "--p2p-port", "0"];
  const program = devWithoutBinariesOf(name, ...flags);
  const [line] = await program.untilLine(/.*KZG backend loaded.*/);
  expect(line).toMatch(/ NOTICE chain +KZG backend loaded {2}backend=portable verifyBlob=/);
  expect(line).toContain(`reason="node-eth-kzg: ${name} is not installed for ${platformName()}"`);
  await program.untilLine(/Dev chain is running/);
  expect(program.lines.filter((each) => each.includes("KZG"))).toHaveLength(1);
  expect(program.complaints).toEqual([]);
});

it("an explicitly selected KZG backend is required", async () => {
  const program = devWithoutBinariesOf("@crate-crypto/node-eth-kzg", "--kzg", "node-eth-kzg");
  expect(await program.exited).toEqual({ code: EXIT_CODES.usage, signal: null });
  expect(program.errors[0]).toMatch(
    /^fanal: The chosen KZG backend does not load on .*; install it, or start with --kzg auto\.$/,
  );
  expect(program.complaints).toEqual([expect.stringMatching(/ FATAL node +Fatal error, exiting /)]);
});

it("the library rejects with the same message", async () => {
  const library = JSON.stringify(new URL("../../src/library/index.ts", import.meta.url));
  const script = `
    const { startDevChain } = await import(${library});
    await startDevChain({ validators: 8 }).catch(({ message }) => console.log(message));
  `;
  const { execArgv } = withoutBinariesOf("@chainsafe/blst");
  const args = [...execArgv, "--input-type", "module", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toBe(`${message("@chainsafe/blst")}\n`);
});
