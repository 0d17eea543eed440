import { hash, randomBytes } from "node:crypto";

const KEY_BYTES = 24;

/** Creates a random client key, along with its hash for the config file. */
export function createClientKey(): string {
  const key = randomBytes(KEY_BYTES).toString("hex");
  return `key: ${key}\nkey-sha256: ${hash("sha256", key)}\n`;
}
