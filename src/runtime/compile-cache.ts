import nodeModule from "node:module";
import { fileURLToPath } from "node:url";

/** Located next to the dependencies, so that a CI cache of `node_modules` includes the compile cache. */
const DIRECTORY = fileURLToPath(new URL("../../node_modules/.cache/fanal", import.meta.url));

let directory: string | undefined;

/** Keeps the compiled code of modules on disk for later processes. Does nothing before Node 22.1 and in Deno. */
export function enableCompileCache(): void {
  // V8 measures the coverage of cached functions less precisely.
  if (process.env.NODE_V8_COVERAGE !== undefined) return;
  const result = nodeModule.enableCompileCache?.(DIRECTORY);
  if (!result) return;
  // Any other status means a failure, or a cache enabled by the user in the environment, which threads inherit.
  if (result.status === nodeModule.constants.compileCacheStatus.ENABLED) directory = result.directory;
}

/** Returns the environment for a thread that uses the same cache, or undefined if there is no cache. */
export function threadEnvironment(): NodeJS.ProcessEnv | undefined {
  return directory === undefined ? undefined : { ...process.env, NODE_COMPILE_CACHE: directory };
}
