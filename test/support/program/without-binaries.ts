import { tempDirectory } from "../directories/temp-directory.ts";
import { Program } from "./program.ts";

/** How a process is started so that a native package has no binary, as on a platform it was not built for. */
export function withoutBinariesOf(name: string): { execArgv: string[]; env: Record<string, string> } {
  // Has its binaries in folders of its own, which node-gyp-build looks for where this variable says.
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

/** Starts a dev chain on which a native package has no binary. */
export function devWithoutBinariesOf(name: string, ...flags: string[]): Program {
  return new Program(["dev", "--data-dir", tempDirectory(), "--validators", "8", ...flags], withoutBinariesOf(name));
}
