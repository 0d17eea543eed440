import { onTestFinished } from "vitest";
import { removableDirectory } from "./removable-directory.ts";

/** A temporary directory, removed at the end of the test. */
export function tempDirectory(): string {
  const { path, remove } = removableDirectory();
  onTestFinished(remove);
  return path;
}
