import { tempDirectory } from "../directories/temp-directory.ts";
import { Program } from "./program.ts";

/** Returns process options that hide the binary of a native package, as on an unsupported platform. */
export function withoutBinariesOf(name: string): { execArgv: string[]; env: Record<string, string> } {
  // node-gyp-build looks for its binaries in the directory of this variable.
  if (name === "classic-level") return { execArgv: [], env: { CLASSIC_LEVEL_PREBUILD: tempDirectory() } };
  const platformPackage = JSON.stringify(`${name === "snappy" ? "@napi-rs/snappy" : name}-${process.platform}-`);
  const hook = `
    import { registerHooks } from "node:module";
    const resolve = (name, context, next) =>
      next(name.startsWith(${platformPackage}) ? name + "-missing" : name, context);
    registerHooks({ resolve });
  `;
  return { execArgv: ["--import", `data:text/javascript,${encodeURIComponent(hook)}`], env: {} };
}

/** Starts a dev chain without the binary of a native package. */
export function devWithoutBinariesOf(name: string, ...flags: string[]): Program {
  return new Program(["dev", "--data-dir", tempDirectory(), "--validators", "8", ...flags], withoutBinariesOf(name));
}
