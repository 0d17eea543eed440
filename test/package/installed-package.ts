import { execFile } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const execute = promisify(execFile);
/** The package runs on Node 22 and newer. The variable selects a Node other than the checkout's. */
export const NODE = process.env.FANAL_TEST_NODE ?? process.execPath;
const CHECKOUT = fileURLToPath(new URL("../../", import.meta.url));

/** The files of a fresh clone that the package is built from. */
const SOURCES = [
  "bin",
  "docs",
  "examples",
  "packaging",
  "scripts",
  "src",
  "test",
  "*.json",
  "*.md",
  "LICENSE",
  ".npmrc",
];

export interface PackedPackage {
  readonly tarball: string;
  /** The copy of the checkout that was packed, since other tests read the checkout meanwhile. */
  readonly clone: string;
}

export interface Manifest {
  version: string;
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
}

export interface InstalledPackage {
  /** A project as `npm init` creates it, with the package, a newer `@chainsafe/ssz` and vitest in its node_modules. */
  readonly project: string;
  /** The package's directory in the project. */
  readonly root: string;
  readonly manifest: Manifest;
  readonly clone: string;
}

/** Runs `npm pack` in a copy of the checkout. */
export async function packPackage(directory: string): Promise<PackedPackage> {
  const clone = join(directory, "clone");
  for (const name of globSync(SOURCES, { cwd: CHECKOUT })) {
    cpSync(join(CHECKOUT, name), join(clone, name), { recursive: true });
  }
  symlinkSync(join(CHECKOUT, "node_modules"), join(clone, "node_modules"));
  await runNpm(["pack", "--silent", "--pack-destination", directory], clone);
  const [tarball] = globSync("*.tgz", { cwd: directory });
  return { tarball: join(directory, tarball!), clone };
}

/**
 * Packs the checkout and unpacks the tarball into a project, with links to the dependencies that its manifest names, to
 * vitest, and to no others. Stands in for an install by npm, which takes half a minute; `*.full.ts` runs real ones.
 */
export async function installPackage(directory: string): Promise<InstalledPackage> {
  const { tarball, clone } = await packPackage(directory);
  const project = join(directory, "project");
  const root = join(project, "node_modules", "fanal");
  mkdirSync(root, { recursive: true });
  await execute("tar", ["-xzf", tarball, "-C", root, "--strip-components=1"]);
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "project", version: "1.0.0", type: "commonjs" }));
  const manifest: Manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  linkPackages(project, Object.keys(manifest.dependencies));
  linkPackage(project, "@chainsafe/ssz", "newer-ssz");
  linkPackage(project, "vitest", "vitest");
  mkdirSync(join(project, "node_modules", ".bin"));
  symlinkSync("../fanal/bin/fanal.js", join(project, "node_modules", ".bin", "fanal"));
  return { project, root, manifest, clone };
}

/** Makes packages of the checkout resolvable from a directory, as an install there would. */
export function linkPackages(directory: string, names: readonly string[]): void {
  for (const name of names) linkPackage(directory, name, name);
}

function linkPackage(directory: string, name: string, nameInCheckout: string): void {
  const place = join(directory, "node_modules", name);
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(join(CHECKOUT, "node_modules", nameInCheckout), place);
}

/** Runs the npm that runs the tests, else the one on the path. */
export async function runNpm(args: readonly string[], cwd: string): Promise<string> {
  const script = process.env.npm_execpath;
  const command = script?.endsWith("npm-cli.js") ? [process.execPath, script] : ["npm"];
  const [file, ...first] = command;
  const { stdout } = await execute(file!, [...first, ...args], { cwd });
  return stdout;
}
