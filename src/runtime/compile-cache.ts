import nodeModule from "node:module";
import { fileURLToPath } from "node:url";

/** Next to the dependencies, so that a CI cache of `node_modules` includes it. */
const DIRECTORY = fileURLToPath(new URL("../../node_modules/.cache/fanal", import.meta.url));

let directory: string | undefined;

/** Keeps compiled code of modules on disk, for later processes. Does nothing before Node 22.1 and in Deno. */
export function enableCompileCache(): void {
  // V8 measures the coverage of cached functions less precisely.
  if (process.env.NODE_V8_COVERAGE !== undefined) return;
  const result = nodeModule.enableCompileCache?.(DIRECTORY);
  if (!result) return;
  // Otherwise it failed, or the user has enabled it in the environment, which threads inherit.
  if (result.status === nodeModule.constants.compileCacheStatus.ENABLED) directory = result.directory;
}

/** Returns the environment of a thread that uses the same cache. Undefined without a cache. */
export function threadEnvironment(): NodeJS.ProcessEnv | undefined {
  return directory === undefined ? undefined : { ...process.env, NODE_COMPILE_CACHE: directory };
}
