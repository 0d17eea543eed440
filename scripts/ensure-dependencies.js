// Installs the locked dependencies when they are missing or out of date. Runs before anything is installed, on the Node that
// happens to be there, so it uses nothing but Node itself.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { NODE_PACKAGE, ownNode } from "../bin/own-node.js";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const lockDirectory = join(root, ".fanal");
const lockFile = join(lockDirectory, "install.lock");
const WAIT_LIMIT_MS = 15 * 60_000;
const WAIT_STEP_MS = 200;

function fail(sentence) {
  process.stderr.write(`fanal: ${sentence}\n`);
  process.exit(1);
}

function readPackages(path) {
  return JSON.parse(readFileSync(path, "utf8")).packages ?? {};
}

/**
 * npm writes node_modules/.package-lock.json at the end of a successful install, and removes it at the start of the next, so
 * it also tells whether an install was cut short.
 */
function isUpToDate() {
  let wanted;
  try {
    wanted = readPackages(join(root, "package-lock.json"));
  } catch (error) {
    fail(`package-lock.json, which says what to install, cannot be read: ${error.message}.`);
  }
  let installed;
  try {
    installed = readPackages(join(root, "node_modules", ".package-lock.json"));
  } catch {
    return false;
  }
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === "" || entry.link) continue;
    const found = installed[path];
    // Optional packages are often for another platform; npm leaves those out.
    if (found === undefined && (entry.optional || entry.devOptional)) continue;
    if (found?.version !== entry.version || found?.integrity !== entry.integrity) return false;
  }
  // That of this platform is optional to npm alone: the program needs it.
  return wanted[`node_modules/${NODE_PACKAGE}`] === undefined || ownNode() !== undefined;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

function tryLock() {
  mkdirSync(lockDirectory, { recursive: true });
  try {
    writeFileSync(lockFile, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

/** A lock whose holder died, for one killed in the middle of an install, is nobody's. */
function removeDeadLock() {
  let holder;
  try {
    holder = readFileSync(lockFile, "utf8");
  } catch {
    return;
  }
  if (holder !== "" && !isAlive(Number(holder))) rmSync(lockFile, { force: true });
}

function releaseLock() {
  rmSync(lockFile, { force: true });
  try {
    rmdirSync(lockDirectory);
  } catch {
    // It holds more than the lock and stays.
  }
}

/** False when another process finished the install while this one waited. */
function lockOrFindDone() {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; !tryLock(); waited += WAIT_STEP_MS) {
    if (waited === 0) process.stderr.write("fanal: waiting for another process that is installing the dependencies.\n");
    if (waited > WAIT_LIMIT_MS)
      fail(`another process has held ${lockFile} for too long; delete it if none is installing.`);
    Atomics.wait(pause, 0, 0, WAIT_STEP_MS);
    removeDeadLock();
  }
  if (!isUpToDate()) return true;
  releaseLock();
  return false;
}

function runNpm(args) {
  const npm = process.env.npm_execpath?.endsWith(".js")
    ? { file: process.execPath, first: [process.env.npm_execpath], shell: false }
    : { file: "npm", first: [], shell: process.platform === "win32" };
  return spawnSync(npm.file, [...npm.first, ...args, "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
    shell: npm.shell,
    stdio: ["ignore", "pipe", "pipe"],
    encoding: "utf8",
  });
}

/** Undefined on success, else what went wrong. */
function install() {
  process.stderr.write("fanal: installing the locked dependencies (npm ci), which takes a minute the first time.\n");
  let command = "npm ci";
  let result = runNpm(["ci"]);
  if (result.status !== 0 && result.stderr?.includes("EUSAGE")) {
    // npm ci insists on an entry for every optional package of every platform, also of those that the registry the lock file
    // was made with does not carry. A plain install takes the same locked versions, and --no-save leaves the lock file alone.
    command = "npm install --no-save";
    result = runNpm(["install", "--no-save"]);
  }
  if (result.status === 0) return undefined;
  process.stderr.write(`${result.stdout ?? ""}${result.stderr ?? ""}`);
  return result.error?.message ?? `"${command}" ended with ${result.signal ?? `exit code ${result.status}`}`;
}

if (!isUpToDate() && lockOrFindDone()) {
  let problem;
  try {
    problem = install();
  } finally {
    releaseLock();
  }
  if (problem !== undefined) fail(`the dependencies could not be installed: ${problem}.`);
}
