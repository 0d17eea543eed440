import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** The library, loaded by the first who has a file to read or to write: most starts do without it, and it would take 40 ms of theirs. */
export function yaml(): typeof import("yaml") {
  return require("yaml");
}
