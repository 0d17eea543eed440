// Hooks of "npm pack": builds dist/ and the reference of the methods, and swaps the manifest before packing, restores it
// afterwards. Plain JavaScript that Node 20 can read.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ownNode } from "../bin/own-node.js";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const manifest = join(root, "package.json");
/** Holds the checkout's manifest while npm packs. */
const setAside = join(root, "package.checkout.json");

/**
 * Manifest fields that only the checkout needs. Its Node is an optional dependency because npm has no other way to
 * install by platform; in a user's project it would shadow the user's Node.
 */
const CHECKOUT_FIELDS = [
  "scripts",
  "devDependencies",
  "optionalDependencies",
  "overrides",
  "allowScripts",
  "devEngines",
];

function fail(sentence) {
  process.stderr.write(`fanal: ${sentence}\n`);
  process.exit(1);
}

/** Runs a script of the build. Returns its output. */
function run(...args) {
  const { status, stdout } = spawnSync(ownNode() ?? process.execPath, args, {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
  });
  if (status === 0) return stdout;
  process.stderr.write(stdout ?? "");
  fail(`the package was not built: "${args.join(" ")}" failed.`);
}

function build() {
  restore();
  rmSync(join(root, "dist"), { recursive: true, force: true });
  const compiler = join("node_modules", "typescript", "bin", "tsc");
  run(compiler, "-p", "tsconfig.types.json");
  run(join("scripts", "methods-doc.ts"));
  const published = JSON.parse(readFileSync(manifest, "utf8"));
  for (const key of CHECKOUT_FIELDS) delete published[key];
  published.dependencies = JSON.parse(run(join("scripts", "package", "bundle.ts")));
  renameSync(manifest, setAside);
  writeFileSync(manifest, `${JSON.stringify(published, null, 2)}\n`);
}

/** Restores the checkout's manifest, also after an interrupted pack. */
function restore() {
  if (existsSync(setAside)) renameSync(setAside, manifest);
}

/** Refuses "npm publish" in the checkout: npm reads the manifest again after packing, when it is the checkout's. */
function refuse() {
  fail('publish the tarball, not the checkout: "npm pack", then "npm publish" with the name of the file that it made.');
}

const actions = { build, restore, refuse };
const action = actions[process.argv[2]];
if (action === undefined) fail(`say what to do: ${Object.keys(actions).join(", ")}.`);
action();
