import { onTestFinished } from "vitest";
import { removableDirectory } from "./removable-directory.ts";

/** A directory that is gone when the test is over. */
export function tempDirectory(): string {
  const { path, remove } = removableDirectory();
  onTestFinished(remove);
  return path;
}
