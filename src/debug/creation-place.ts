import { basename } from "node:path";
import { fileURLToPath } from "node:url";

/** Where in the program something was made. */
export interface Place {
  procname: string;
  /** Relative to the project: where the project lies is nobody's business. */
  filename: string;
  line: number;
}

const PROJECT = fileURLToPath(new URL("../../", import.meta.url));
const OWN_DIRECTORY = fileURLToPath(new URL("./", import.meta.url));
/** Enough to get past the frames of Node, which come first. */
const FRAMES = 24;
const UNKNOWN: Place = { procname: "<native>", filename: "", line: 0 };

/** Finds out where the code that runs was called from. */
export class PlaceFinder {
  /** How each file is called; null for files that are passed over. The program has only so many files. */
  readonly #names = new Map<string, string | null>();

  /** The innermost frame that is neither Node's nor the tracker's; where there is none, the innermost of Node's. */
  find(): Place {
    let internal: Place | undefined;
    for (const site of callSites()) {
      const file = site.getFileName();
      if (!file) continue;
      const name = this.#nameOf(file);
      if (name === null) continue;
      const isInternal = name.startsWith("node:");
      if (isInternal && internal) continue;
      const place = {
        procname: site.getFunctionName() ?? "<anonymous>",
        filename: name,
        line: site.getLineNumber() ?? 0,
      };
      if (!isInternal) return place;
      internal = place;
    }
    return internal ?? UNKNOWN;
  }

  #nameOf(file: string): string | null {
    const known = this.#names.get(file);
    if (known !== undefined) return known;
    const name = shownName(file);
    this.#names.set(file, name);
    return name;
  }
}

/** V8 gives structured frames only to a process-wide function, which is ours for the length of this call. */
function callSites(): NodeJS.CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.prepareStackTrace = (_error, sites) => sites;
  Error.stackTraceLimit = FRAMES;
  try {
    const holder: { stack?: unknown } = {};
    Error.captureStackTrace(holder, callSites);
    return holder.stack as NodeJS.CallSite[];
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Null for a file of the tracker, and for the hooks it is called by. */
export function shownName(file: string): string | null {
  if (file.startsWith("node:")) return file === "node:internal/async_hooks" ? null : file;
  const path = file.startsWith("file:") ? fileURLToPath(file) : file;
  if (path.startsWith(OWN_DIRECTORY) && !path.endsWith(".test.ts")) return null;
  if (path.startsWith(PROJECT)) return path.slice(PROJECT.length);
  // Installed as a package, the project has its dependencies beside it.
  const installed = path.lastIndexOf("/node_modules/");
  return installed === -1 ? basename(path) : path.slice(installed + 1);
}
