#!/usr/bin/env node
// Plain JavaScript that old Node versions can read: the program itself is TypeScript and needs Node 24.
import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import * as nodeModule from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ownNode } from "./own-node.js";

const REQUIRED_MAJOR = 24;
const self = realpathSync(fileURLToPath(import.meta.url));

function runWithOwnNode() {
  const binary = ownNode();
  if (binary === undefined) {
    process.stderr.write(
      `fanal: Node ${REQUIRED_MAJOR} or newer is needed and this is ${process.version}; "npm install" in ${dirname(dirname(self))} installs one beside the other dependencies, on Linux and on Windows.\n`,
    );
    process.exit(1);
  }
  // The channel carries no messages: its closing tells the child that this process has died without a chance to say so.
  const child = spawn(binary, [self, ...process.argv.slice(2)], { stdio: ["inherit", "inherit", "inherit", "ipc"] });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("error", (error) => {
    process.stderr.write(`fanal: ${binary} cannot be started: ${error.message}.\n`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

async function run() {
  if (process.channel) {
    process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
    process.channel.unref();
  }
  // Halves the time that loading the program takes from the second start on.
  nodeModule.enableCompileCache(join(dirname(dirname(self)), "node_modules", ".cache", "fanal"));
  const { main } = await import("../src/cli/main.ts");
  process.exit(await main(process.argv.slice(2)));
}

if (Number.parseInt(process.versions.node, 10) < REQUIRED_MAJOR) runWithOwnNode();
else await run();
