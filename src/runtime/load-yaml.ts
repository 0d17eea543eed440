import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** Loads the YAML library on first use, because it takes 40 ms and most starts do not need it. */
export function loadYaml(): typeof import("yaml") {
  return require("yaml");
}
