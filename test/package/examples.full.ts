import { afterAll, beforeAll, it } from "vitest";
import { removableDirectory } from "../support/directories/removable-directory.ts";
import { EXAMPLES, runExamples } from "./examples.ts";
import { type InstalledPackage, installPackage } from "./installed-package.ts";

const directory = removableDirectory();
let installed: InstalledPackage;

beforeAll(async () => {
  installed = await installPackage(directory.path);
});
afterAll(() => directory.remove());

it("runs all examples", () => {
  runExamples(installed.project, EXAMPLES);
});
