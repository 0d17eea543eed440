// Adds to package-lock.json the optional packages that npm left out because the registry lacks them: binaries for
// other platforms. "npm ci" refuses a lock file without them, and "npm install" looks for each of them again. To be run
// after a change of dependencies, for the package in site/ with "site" as argument. The entries have no hash; their
// versions are exact, as their dependents name them.
import { readFileSync, writeFileSync } from "node:fs";

const LOCK_FILE = new URL(`../${process.argv[2] ?? "."}/package-lock.json`, import.meta.url);
const PLATFORM =
  /-(?:(aix|android|darwin|freebsd|linux|openbsd|openharmony|win32)-([a-z0-9]+)(?:-(\w+))?|(wasm32)-\w+)$/;
const CPUS = { amd64: "x64" };

function entryFor(name, version, { dev }) {
  const [, os, cpu, abi = "", wasm] = PLATFORM.exec(name) ?? [];
  if (os === undefined && wasm === undefined) throw new Error(`The platform of ${name} is unknown.`);
  const libc = os === "linux" && (abi.startsWith("musl") ? "musl" : abi.startsWith("gnu") && "glibc");
  return {
    version,
    cpu: [wasm ?? CPUS[cpu] ?? cpu],
    ...(dev && { dev }),
    ...(libc && { libc: [libc] }),
    optional: true,
    ...(os && { os: [os] }),
  };
}

const lock = JSON.parse(readFileSync(LOCK_FILE, "utf8"));
const { packages } = lock;
for (const entry of Object.values(packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    packages[`node_modules/${name}`] ??= entryFor(name, version, entry);
  }
}
// Node's own builds need glibc, which their packages do not say. Elsewhere npm would run install scripts with them.
for (const [path, entry] of Object.entries(packages)) {
  if (/^node_modules\/node-linux-\w+$/.test(path)) entry.libc = ["glibc"];
}
lock.packages = Object.fromEntries(Object.entries(packages).sort(([one], [other]) => one.localeCompare(other, "en")));
writeFileSync(LOCK_FILE, `${JSON.stringify(lock, null, 2)}\n`);
