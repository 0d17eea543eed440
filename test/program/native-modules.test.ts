import { expect, it } from "vitest";
import { EXIT_CODES } from "../../src/cli/exit.ts";
import { missingNativeModuleMessage, platformName } from "../../src/runtime/native-modules.ts";
import { Program } from "../support/program/program.ts";
import { devWithoutBinariesOf, withoutBinariesOf } from "../support/program/without-binaries.ts";
import { variants } from "../support/suite/tier.ts";

const REQUIRED = variants({
  fast: ["@chainsafe/blst", "classic-level"],
  full: ["@chainsafe/pubkey-index-map", "@chainsafe/swap-or-not-shuffle", "@node-rs/crc32", "snappy"],
});

const message = (name: string) => missingNativeModuleMessage({ package: name, platform: platformName() });

it.for(REQUIRED)("a chain does not start without %s, explained in one line", async (name) => {
  const program = devWithoutBinariesOf(name);
  expect(await program.exited).toEqual({ code: EXIT_CODES.usage, signal: null });
  expect(program.errors).toEqual([`fanal: ${message(name)}`]);
  expect(program.complaints).toEqual([expect.stringMatching(/ FATAL node +Fatal error, exiting /)]);
});

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
