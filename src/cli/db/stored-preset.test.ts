import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { removableDirectory } from "../../../test/support/directories/removable-directory.ts";
import { storedPreset } from "./stored-preset.ts";

/** Creates a working directory with the network "devnet", which uses the minimal preset. */
async function workingDirectory(): Promise<string> {
  const { path, remove } = removableDirectory();
  onTestFinished(remove);
  await mkdir(join(path, "devnet"));
  await writeFile(join(path, "devnet", "config.yaml"), "PRESET_BASE: minimal\n");
  return path;
}

it("takes the preset of a dev chain from its identity, minimal by default", () => {
  expect(storedPreset({ kind: "dev", preset: "mainnet" }, undefined, "/")).toEqual({
    preset: "mainnet",
    network: undefined,
  });
  expect(storedPreset({ kind: "dev" }, undefined, "/")).toMatchObject({ preset: "minimal" });
});

it("ignores the given network for a dev chain", () => {
  expect(storedPreset({ kind: "dev", preset: "minimal" }, "mainnet", "/")).toEqual({
    preset: "minimal",
    network: undefined,
  });
});

it.each([
  ["mainnet", "mainnet"],
  ["chiado", "gnosis"],
])("knows the preset of %s", (name, preset) => {
  expect(storedPreset({ kind: "node", network: name }, undefined, "/")).toEqual({
    preset,
    network: { name, directory: undefined, preset },
  });
});

it("requires the directory of other networks, also for names of built-in object properties", () => {
  for (const name of ["devnet", "constructor"]) {
    expect(() => storedPreset({ kind: "node", network: name }, undefined, "/")).toThrow(
      `The chain belongs to network "${name}", which is not built in. Give its directory with --network.`,
    );
  }
});

it("reads the preset of a given directory, relative to the working directory", async () => {
  const path = await workingDirectory();
  expect(storedPreset({ kind: "node", network: "devnet" }, "devnet", path)).toEqual({
    preset: "minimal",
    network: { name: "devnet", directory: join(path, "devnet"), preset: "minimal" },
  });
});

it("prefers the given network to the stored one, which is compared later", async () => {
  const path = await workingDirectory();
  expect(storedPreset({ kind: "node", network: "mainnet" }, "devnet", path)).toMatchObject({ preset: "minimal" });
});
