import { execFile } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const execute = promisify(execFile);
const CHECKOUT = fileURLToPath(new URL("../../", import.meta.url));

/** What a fresh clone has that the package is made of. */
const SOURCES = ["bin", "docs", "examples", "packaging", "scripts", "src", "*.json", "*.md", "LICENSE", ".npmrc"];

export interface Manifest {
  version: string;
  dependencies: Record<string, string>;
}

export interface InstalledPackage {
  /** A project as `npm init` makes one, with the package in its node_modules. */
  readonly project: string;
  /** The package there. */
  readonly root: string;
  readonly manifest: Manifest;
  /** What npm pack packed from: a copy of the checkout, whose own files other tests read meanwhile. */
  readonly clone: string;
}

/**
 * Packs the checkout and installs the tarball in an empty project: unpacked, with links to the dependencies that its manifest
 * names, and to no others. An install by npm would be the same with other versions below them, and takes half a minute.
 */
export async function installPackage(directory: string): Promise<InstalledPackage> {
  const clone = join(directory, "clone");
  const project = join(directory, "project");
  const root = join(project, "node_modules", "fanal");
  for (const name of globSync(SOURCES, { cwd: CHECKOUT })) {
    cpSync(join(CHECKOUT, name), join(clone, name), { recursive: true });
  }
  symlinkSync(join(CHECKOUT, "node_modules"), join(clone, "node_modules"));
  await runNpm(["pack", "--silent", "--pack-destination", directory], clone);
  const [tarball] = globSync("*.tgz", { cwd: directory });
  mkdirSync(root, { recursive: true });
  await execute("tar", ["-xzf", join(directory, tarball!), "-C", root, "--strip-components=1"]);
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "project", version: "1.0.0", type: "commonjs" }));
  const manifest: Manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  linkPackages(project, Object.keys(manifest.dependencies));
  mkdirSync(join(project, "node_modules", ".bin"));
  symlinkSync("../fanal/bin/fanal.js", join(project, "node_modules", ".bin", "fanal"));
  return { project, root, manifest, clone };
}

/** Has a directory find packages as an install there would, in the versions of the checkout. */
export function linkPackages(directory: string, names: readonly string[]): void {
  for (const name of names) {
    const place = join(directory, "node_modules", name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(CHECKOUT, "node_modules", name), place);
  }
}

/** The npm that runs the tests, or the one that is there. */
export async function runNpm(args: readonly string[], cwd: string): Promise<string> {
  const script = process.env.npm_execpath;
  const command = script?.endsWith("npm-cli.js") ? [process.execPath, script] : ["npm"];
  const [file, ...first] = command;
  const { stdout } = await execute(file!, [...first, ...args], { cwd });
  return stdout;
}
