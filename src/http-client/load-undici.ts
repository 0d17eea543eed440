import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/**
 * Loads undici when the first connection is opened: loading takes more than 100 ms, and a dev chain opens no
 * connection.
 */
export function loadUndici(): typeof import("undici") {
  return require("undici");
}
