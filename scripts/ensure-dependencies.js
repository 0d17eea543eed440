// Installs the locked dependencies when they are missing or out of date; with --omit=dev only those that the program
// needs to run. Runs before anything is installed, on Node 20 or newer, so it imports nothing but Node's own modules.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isOwnNodeNeeded, NODE_PACKAGE, ownNode } from "../bin/own-node.js";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
/** Exists while npm runs, and after an install that was cut short: packages may be extracted in part then. */
const unfinishedMarker = join(modules, ".fanal-unfinished");
const lockDirectory = join(root, ".fanal");
const lockFile = join(lockDirectory, "install.lock");
const WAIT_LIMIT_MS = 15 * 60_000;
const WAIT_STEP_MS = 200;

const needsDev = !process.argv.includes("--omit=dev");

function say(sentence) {
  process.stderr.write(`fanal: ${sentence}\n`);
}

function fail(sentence) {
  say(sentence);
  process.exit(1);
}

function readPackages(path) {
  return JSON.parse(readFileSync(path, "utf8")).packages ?? {};
}

function lockedPackages() {
  try {
    return readPackages(join(root, "package-lock.json"));
  } catch (error) {
    return fail(`package-lock.json cannot be read: ${error.message}.`);
  }
}

/** The packages of the last install that npm finished; none before the first. */
function installedPackages() {
  try {
    return readPackages(join(modules, ".package-lock.json"));
  } catch {
    return {};
  }
}

function isInstalled(entry, found) {
  // Optional packages are mostly for other platforms.
  if (found === undefined) return entry.optional || entry.devOptional;
  // Packages that the registry lacked when the lock file was written have no hash in it.
  return found.version === entry.version && (entry.integrity === undefined || found.integrity === entry.integrity);
}

function isUpToDate() {
  if (existsSync(unfinishedMarker)) return false;
  const locked = lockedPackages();
  const installed = installedPackages();
  for (const [path, entry] of Object.entries(locked)) {
    if (path === "" || entry.link || (entry.dev && !needsDev)) continue;
    if (!isInstalled(entry, installed[path])) return false;
  }
  // Optional to npm, but the program does not run without it.
  return !isOwnNodeNeeded || locked[`node_modules/${NODE_PACKAGE}`] === undefined || ownNode() !== undefined;
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

function removeDeadLock() {
  let holder;
  try {
    holder = readFileSync(lockFile, "utf8");
  } catch {
    return;
  }
  if (holder !== "" && !isAlive(Number(holder))) rmSync(lockFile, { force: true });
}

async function lock() {
  for (let waited = 0; !tryLock(); waited += WAIT_STEP_MS) {
    if (waited === WAIT_STEP_MS) say("waiting for another process that installs the dependencies.");
    if (waited > WAIT_LIMIT_MS)
      fail(`another process holds ${lockFile} for too long; delete it if none is installing.`);
    removeDeadLock();
    // Tries again at once: the holder may have been dead.
    if (waited > 0) await delay(WAIT_STEP_MS);
  }
}

function releaseLock() {
  rmSync(lockFile, { force: true });
  try {
    rmdirSync(lockDirectory);
  } catch {
    // Not empty.
  }
}

/** Resolves when npm has ended, with what went wrong, if anything did, and the signal that stopped it, if one did. */
function runNpm(args) {
  const npm = process.env.npm_execpath?.endsWith(".js")
    ? { file: process.execPath, first: [process.env.npm_execpath], shell: false }
    : { file: "npm", first: [], shell: process.platform === "win32" };
  const child = spawn(npm.file, [...npm.first, ...args], {
    cwd: root,
    shell: npm.shell,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  let stoppedBy = null;
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(name, () => {
      stoppedBy ??= name;
      child.kill(name);
    });
  }
  return new Promise((resolve) => {
    child.on("error", ({ message }) => resolve({ problem: `npm cannot be started: ${message}`, signal: null, output }));
    child.on("close", (status, killedBy) => {
      const signal = status === 0 ? null : (stoppedBy ?? killedBy);
      resolve({ problem: status !== 0 && `npm ended with ${signal ?? `exit code ${status}`}`, signal, output });
    });
  });
}

/** Shows that the install goes on: in place on a terminal, else by a line at the start. Returns what shows its end. */
function showProgress() {
  const startedAt = performance.now();
  const seconds = () => `${Math.round((performance.now() - startedAt) / 1000)} s`;
  if (!process.stderr.isTTY) {
    say("installing dependencies, which takes about a minute the first time.");
    return (isDone) => isDone && say(`installed dependencies in ${seconds()}.`);
  }
  const show = () => process.stderr.write(`\rfanal: installing dependencies, ${seconds()}`);
  show();
  const timer = setInterval(show, 1000);
  return (isDone) => {
    clearInterval(timer);
    process.stderr.write(isDone ? `\rfanal: installed dependencies in ${seconds()}.\n` : "\n");
  };
}

/** npm would take packages that were extracted in part for whole ones. */
function removePackages() {
  for (const name of readdirSync(modules)) {
    try {
      rmSync(join(modules, name), { recursive: true, force: true });
    } catch {
      // Windows does not remove the Node that runs this script.
    }
  }
}

async function install() {
  const endProgress = showProgress();
  if (existsSync(unfinishedMarker)) removePackages();
  const hasDev = Object.values(installedPackages()).some(({ dev }) => dev);
  mkdirSync(modules, { recursive: true });
  writeFileSync(unfinishedMarker, "");
  // Unlike "npm ci", it keeps what is there already, and takes a lock file that lacks packages for other platforms.
  const { problem, signal, output } = await runNpm([
    ...["install", "--no-save", needsDev || hasDev ? "--include=dev" : "--omit=dev"],
    ...["--no-audit", "--no-fund", "--loglevel=error"],
  ]);
  endProgress(!problem);
  // npm undoes an install that fails, but not one that is killed.
  if (signal === null) rmSync(unfinishedMarker, { force: true });
  releaseLock();
  if (!problem) return;
  process.stderr.write(output);
  say(`the dependencies could not be installed: ${problem}.`);
  process.exit(signal === null ? 1 : 128 + constants.signals[signal]);
}

if (!isUpToDate()) {
  await lock();
  if (isUpToDate()) releaseLock();
  else await install();
}
