import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** Loads undici on the first connection: it takes more than 100 ms, and a dev chain opens none. */
export function loadUndici(): typeof import("undici") {
  return require("undici");
}
