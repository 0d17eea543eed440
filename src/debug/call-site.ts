import { basename } from "node:path";
import { fileURLToPath } from "node:url";

/** A position in the source code. */
export interface CallSite {
  procname: string;
  /** Relative to the project root. */
  filename: string;
  line: number;
}

const PROJECT = fileURLToPath(new URL("../../", import.meta.url));
const OWN_DIRECTORY = fileURLToPath(new URL("./", import.meta.url));
/** Deep enough to skip Node's own frames, which come first. */
const MAX_FRAMES = 24;
const UNKNOWN: CallSite = { procname: "<native>", filename: "", line: 0 };

/** Finds the call site of the running code in the stack. */
export class CallSiteFinder {
  /** Display path by file; null for skipped files. */
  readonly #paths = new Map<string, string | null>();

  /** Returns the innermost frame outside of Node and the tracker, or Node's innermost frame if there is none. */
  find(): CallSite {
    let internal: CallSite | undefined;
    for (const site of callSites()) {
      const file = site.getFileName();
      if (!file) continue;
      const path = this.#pathOf(file);
      if (path === null) continue;
      const isInternal = path.startsWith("node:");
      if (isInternal && internal) continue;
      const callSite = {
        procname: site.getFunctionName() ?? "<anonymous>",
        filename: path,
        line: site.getLineNumber() ?? 0,
      };
      if (!isInternal) return callSite;
      internal = callSite;
    }
    return internal ?? UNKNOWN;
  }

  #pathOf(file: string): string | null {
    const cachedPath = this.#paths.get(file);
    if (cachedPath !== undefined) return cachedPath;
    const path = displayPath(file);
    this.#paths.set(file, path);
    return path;
  }
}

/** Captures structured stack frames. V8 passes them only to a global hook, which is set for this call. */
function callSites(): NodeJS.CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.prepareStackTrace = (_error, sites) => sites;
  Error.stackTraceLimit = MAX_FRAMES;
  try {
    const holder: { stack?: unknown } = {};
    Error.captureStackTrace(holder, callSites);
    return holder.stack as NodeJS.CallSite[];
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Returns the path to show for a file, which is never absolute. Returns null for the tracker itself and its hooks. */
export function displayPath(file: string): string | null {
  if (file.startsWith("node:")) return file === "node:internal/async_hooks" ? null : file;
  const path = file.startsWith("file:") ? fileURLToPath(file) : file;
  if (path.startsWith(OWN_DIRECTORY) && !path.endsWith(".test.ts")) return null;
  if (path.startsWith(PROJECT)) return path.slice(PROJECT.length);
  // The dependencies of an installed package are next to it.
  const installed = path.lastIndexOf("/node_modules/");
  return installed === -1 ? basename(path) : path.slice(installed + 1);
}
