import { expect, it } from "vitest";
import { EXIT_CODES } from "../../src/cli/exit.ts";
import { missingNativeModuleMessage, platformName } from "../../src/runtime/native-modules.ts";
import { devWithoutBinariesOf } from "../support/program/without-binaries.ts";
import { variants } from "../support/suite/tier.ts";

const REQUIRED = variants({
  fast: ["@chainsafe/blst"],
  full: ["classic-level", "@chainsafe/pubkey-index-map", "@chainsafe/swap-or-not-shuffle", "@node-rs/crc32", "snappy"],
});

const message = (name: string) => missingNativeModuleMessage({ package: name, platform: platformName() });

it.for(REQUIRED)("a chain does not start without %s, explained in one line", async (name) => {
  const program = devWithoutBinariesOf(name);
  expect(await program.exited).toEqual({ code: EXIT_CODES.usage, signal: null });
  expect(program.errors).toEqual([`fanal: ${message(name)}`]);
  expect(program.complaints).toEqual([expect.stringMatching(/ FATAL node +Fatal error, exiting /)]);
});
