#!/usr/bin/env node
// Plain JavaScript for old Node versions. A checkout runs TypeScript on the Node of its dependencies. The package is
// compiled and runs on the installed Node.
import { spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import * as nodeModule from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CHECKOUT_MAJOR, ownNode } from "./own-node.js";

const self = realpathSync(fileURLToPath(import.meta.url));
const root = dirname(dirname(self));
const isCheckout = existsSync(join(root, "src"));
const PACKAGE_MAJOR = 22;
const requiredMajor = isCheckout ? CHECKOUT_MAJOR : PACKAGE_MAJOR;
/** Exit code of wrong settings: a restart does not help. */
const EXIT_CODE = 2;

function refuse(sentence) {
  process.stderr.write(`fanal: ${sentence}.\n`);
  process.exit(EXIT_CODE);
}

function refuseNode(help) {
  refuse(`Node ${requiredMajor} or newer is needed and this is ${process.version}${help}`);
}

function refuseWithout(name) {
  const help = isCheckout ? `"npm ci --omit=dev" in ${root} installs it with all others` : "install fanal again";
  refuse(`The package ${name}, which the program needs, is not installed: ${help}`);
}

function runWithOwnNode() {
  const binary = ownNode();
  if (binary === undefined) {
    const platforms = "Linux (glibc, x64 or arm64) and on Windows (x64)";
    refuseNode(`. Install it, or run "npm ci --omit=dev" in ${root}, which installs one on ${platforms}`);
  }
  // The channel carries no messages. It closes when this process dies, which stops the child.
  const child = spawn(binary, [self, ...process.argv.slice(2)], { stdio: ["inherit", "inherit", "inherit", "ipc"] });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR2"]) {
    // Windows signals all processes of a console. kill() would end the child at once.
    process.on(signal, () => process.platform !== "win32" && child.kill(signal));
  }
  child.on("error", ({ message }) => refuse(`${binary} cannot be started: ${message}. Install Node ${requiredMajor}`));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

function unlessNotInstalled(error) {
  const name = error.code === "ERR_MODULE_NOT_FOUND" && /^Cannot find package '([^']+)'/.exec(error.message)?.[1];
  if (!name) throw error;
  refuseWithout(name);
}

async function run() {
  if (process.channel) {
    // Emitted instead of sent, because on Windows a sent signal ends the process at once.
    process.once(
      "disconnect",
      () => process.emit("SIGTERM", "SIGTERM") || process.exit(128 + constants.signals.SIGTERM),
    );
    process.channel.unref();
  }
  // Halves the load time from the second start on. Threads inherit the variable.
  process.env.NODE_COMPILE_CACHE ??= join(root, "node_modules", ".cache", "fanal");
  nodeModule.enableCompileCache?.();
  const load = (name) => import(isCheckout ? `../src/${name}.ts` : `../dist/${name}.js`).catch(unlessNotInstalled);
  (await load("runtime/module-resolution")).cacheModuleResolution();
  (await load("runtime/tick-object-shape")).pinTickObjectShape();
  const { main } = await load("cli/main");
  process.exit(await main(process.argv.slice(2)));
}

// Without a listener, Node opens its inspector, which runs any code for any user of the machine.
process.on("SIGUSR1", () => {});
// npm runs scripts in the checkout. Relative paths refer to the directory of the user.
const { npm_lifecycle_event: npmScript, INIT_CWD } = process.env;
if (npmScript === "fanal" && INIT_CWD) process.chdir(INIT_CWD);
if (Number.parseInt(process.versions.node, 10) >= requiredMajor) await run();
else if (isCheckout) runWithOwnNode();
else refuseNode(`. Install it, or run "npm install node@24" in your project`);
