#!/usr/bin/env node
// The compiler of npm with the command line of the native one, which forge calls.
import { readFileSync } from "node:fs";
import solc from "solc";

if (process.argv.includes("--version")) {
  process.stdout.write(`solc, the solidity compiler commandline interface\nVersion: ${solc.version()}\n`);
} else {
  process.stdout.write(solc.compile(readFileSync(0, "utf8")));
}
