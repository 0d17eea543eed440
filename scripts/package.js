// What npm pack does before and after it makes the tarball. Plain JavaScript that old Node versions can read.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ownNode } from "../bin/own-node.js";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const manifest = join(root, "package.json");
/** Where the manifest of the checkout is while that of the package is in its place. */
const setAside = join(root, "package.checkout.json");

/**
 * What is for the checkout alone. Its Node is an optional dependency only because npm has no other way to say "for this
 * platform"; in the projects of others it would take the place of theirs.
 */
const OF_CHECKOUT = ["scripts", "devDependencies", "optionalDependencies", "overrides", "allowScripts", "devEngines"];

function fail(sentence) {
  process.stderr.write(`fanal: ${sentence}\n`);
  process.exit(1);
}

function compile(project) {
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const { status } = spawnSync(ownNode() ?? process.execPath, [compiler, "-p", project], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) fail(`the package was not built: ${project} does not compile.`);
}

function build() {
  restore();
  rmSync(join(root, "dist"), { recursive: true, force: true });
  compile("tsconfig.build.json");
  compile("tsconfig.types.json");
  const isOfPage = (source) => !extname(source) || [".html", ".css", ".svg"].includes(extname(source));
  cpSync(join(root, "src", "web"), join(root, "dist", "web"), { recursive: true, filter: isOfPage });
  const published = JSON.parse(readFileSync(manifest, "utf8"));
  for (const key of OF_CHECKOUT) delete published[key];
  renameSync(manifest, setAside);
  writeFileSync(manifest, `${JSON.stringify(published, null, 2)}\n`);
}

/** Also what a packing left behind that was cut short. */
function restore() {
  if (existsSync(setAside)) renameSync(setAside, manifest);
}

/** npm would tell the registry of the manifest of the checkout, which is back when it asks. */
function refuse() {
  fail('publish the tarball, not the checkout: "npm pack", then "npm publish" with the name of the file that it made.');
}

const actions = { build, restore, refuse };
const action = actions[process.argv[2]];
if (action === undefined) fail(`say what to do: ${Object.keys(actions).join(", ")}.`);
action();
