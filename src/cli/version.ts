import { readFileSync } from "node:fs";

/** The version this copy of the program was released as, such as `0.1.0`. */
export function readVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return manifest.version;
}
