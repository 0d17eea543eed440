import { describe, expect, it } from "vitest";
import { missingNativeModule, missingNativeModuleMessage, platformName } from "./native-modules.ts";

const PLATFORM = "linux-x64-glibc";

/** Creates an error as thrown by a loader in the file. */
function thrownIn(file: string, message: string, { code, cause }: { code?: string; cause?: unknown } = {}): Error {
  const error = Object.assign(new Error(message, { cause }), code !== undefined && { code });
  error.stack = `Error: ${message}\n    at Object.<anonymous> (${file}:500:11)\n    at node:internal/modules:1:1`;
  return error;
}

const notFound = (name: string, file: string) =>
  thrownIn("node:internal/modules/cjs/loader", `Cannot find module '${name}'\nRequire stack:\n- ${file}`, {
    code: "MODULE_NOT_FOUND",
  });

/** Chains the errors of all attempts by cause, as newer loaders do. */
const chained = (...messages: string[]) =>
  messages.reduce<Error | undefined>((cause, message) => new Error(message, { cause }), undefined);

describe("missingNativeModule", () => {
  const blst = "/app/node_modules/@chainsafe/blst/index.js";
  const snappy = "/app/node_modules/snappy/index.js";
  const hashtree = "C:\\app\\node_modules\\@chainsafe\\hashtree\\index.js";
  const level = "/app/node_modules/classic-level";
  const missing: [loader: string, error: Error, name: string][] = [
    ["a platform package that is not found", notFound("@chainsafe/blst-linux-x64-gnu", blst), "@chainsafe/blst"],
    ["an unknown system", thrownIn(blst, "Unsupported OS: sunos, architecture: x64"), "@chainsafe/blst"],
    ["an unknown processor", thrownIn(blst, "Unsupported architecture on Linux: ppc"), "@chainsafe/blst"],
    [
      "an array of attempts, in a Windows path",
      thrownIn(hashtree, "Cannot find native binding. npm has a bug", {
        cause: [notFound("./hashtree.node", hashtree)],
      }),
      "@chainsafe/hashtree",
    ],
    [
      "a chain of attempts",
      thrownIn(snappy, "Cannot find native binding.", {
        cause: chained("Cannot find module './snappy.node'", "Cannot find module '@napi-rs/snappy-linux-x64-gnu'"),
      }),
      "snappy",
    ],
    [
      "an ES module installed by pnpm",
      thrownIn(
        "file:///app/node_modules/.pnpm/blst@2.2.0/node_modules/@chainsafe/blst/index.js",
        "Failed to load native binding",
      ),
      "@chainsafe/blst",
    ],
    [
      "node-gyp-build",
      thrownIn(
        "/app/node_modules/node-gyp-build/node-gyp-build.js",
        `No native build was found for platform=linux arch=x64\n    loaded from: ${level}\n`,
      ),
      "classic-level",
    ],
  ];
  for (const [loader, error, name] of missing) {
    it(`recognises ${loader}`, () => {
      expect(missingNativeModule(error, PLATFORM)).toEqual({ package: name, platform: PLATFORM });
    });
  }

  it("reports why an existing binary does not load", () => {
    const binary = "/app/node_modules/@chainsafe/blst-linux-x64-gnu/blst.linux-x64-gnu.node";
    const reason = `${binary}: version \`GLIBC_2.38' not found`;
    const expected = { package: "@chainsafe/blst", platform: PLATFORM, reason };
    expect(missingNativeModule(thrownIn(blst, reason, { code: "ERR_DLOPEN_FAILED" }), PLATFORM)).toEqual(expected);
    const cause = chained("Cannot find module './snappy.node'", "file too short", "Cannot find module 'x-wasm32-wasi'");
    expect(missingNativeModule(thrownIn(snappy, "Cannot find native binding.", { cause }), PLATFORM)).toEqual({
      package: "snappy",
      platform: PLATFORM,
      reason: "file too short",
    });
  });

  it("ignores other errors", () => {
    expect(missingNativeModule(notFound("left-pad", "/app/node_modules/a/index.js"))).toBeUndefined();
    expect(missingNativeModule(notFound("./a-linux-x64.js", "/app/src/main.js"))).toBeUndefined();
    expect(missingNativeModule(thrownIn(blst, "BLST_ERROR: invalid size"))).toBeUndefined();
    expect(missingNativeModule("Cannot find native binding")).toBeUndefined();
  });
});

it("names the missing package and the fix in one line", () => {
  const missing = { package: "snappy", platform: "linux-arm64-musl" };
  const remedy = /\. Reinstall .+npm install.+docs\/reference\/platforms\.md\.$/;
  expect(missingNativeModuleMessage(missing)).toMatch(
    /^The native package snappy is not installed for linux-arm64-musl\./,
  );
  expect(missingNativeModuleMessage(missing)).toMatch(remedy);
  const unloadable = missingNativeModuleMessage({ ...missing, reason: "file too short." });
  expect(unloadable).toMatch(/^The native package snappy does not load on linux-arm64-musl: file too short\. R/);
  expect(unloadable).not.toContain("\n");
});

it("names the platform as Node does, with the C library on Linux", () => {
  expect(platformName({ platform: "linux", arch: "arm64", glibcVersion: "2.36" })).toBe("linux-arm64-glibc");
  expect(platformName({ platform: "linux", arch: "x64" })).toBe("linux-x64-musl");
  expect(platformName({ platform: "darwin", arch: "arm64" })).toBe("darwin-arm64");
  expect(platformName()).toMatch(new RegExp(`^${process.platform}-${process.arch}`));
});
