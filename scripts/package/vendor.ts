/**
 * Bundles the web page into dist/page, and the consensus libraries into dist/vendor, where the compiled files are
 * pointed to. A newer `@chainsafe/ssz` in a user's project can then not replace the one that `@lodestar/*` needs.
 * Prints the dependencies of the package as JSON.
 */
import { globSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { type OutputChunk, rolldown } from "rolldown";
import { bundlePage } from "../../src/node/servers/page/bundle-page.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DIST = join(ROOT, "dist");

/** Libraries whose versions must match. Their own dependencies are bundled with them, except native ones. */
const VENDORED = /^@(lodestar\/|chainsafe\/(ssz|persistent-merkle-tree)(\/|$))/;

/** Imports of packages, as the compiler writes them. */
const IMPORT = /(\bfrom |\bimport\(|\bimport )"(@[^"]+)"/g;

/** Packages with native code, which npm installs for the platform. */
const NATIVE = [
  "@chainsafe/blst",
  "@chainsafe/hashtree",
  "@chainsafe/pubkey-index-map",
  "@chainsafe/swap-or-not-shuffle",
  "@vekexasia/bigint-buffer2",
];

/** Redirects imports of the bundled libraries to dist/vendor. Returns the imported libraries. */
function redirectImports(): Set<string> {
  const libraries = new Set<string>();
  for (const name of globSync("**/*.js", { cwd: DIST })) {
    const path = join(DIST, name);
    const folder = posix.dirname(name.replaceAll("\\", "/"));
    const text = readFileSync(path, "utf8");
    const rewritten = text.replace(IMPORT, (statement, keyword: string, library: string) => {
      if (!VENDORED.test(library)) return statement;
      libraries.add(library);
      return `${keyword}"${posix.relative(folder, ".") || "."}/vendor/${entryName(library)}.js"`;
    });
    if (rewritten !== text) writeFileSync(path, rewritten);
  }
  return libraries;
}

const entryName = (library: string): string => library.slice("@".length);

/** Writes a module for each library. Code that they share goes to chunks, so that it is loaded once per thread. */
async function bundle(libraries: ReadonlySet<string>): Promise<OutputChunk[]> {
  await using bundler = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries([...libraries].map((library) => [entryName(library), library])),
    external: NATIVE,
    platform: "node",
    onLog: (_level, { message }) => {
      throw new Error(message);
    },
  });
  const { output } = await bundler.write({
    dir: join(DIST, "vendor"),
    entryFileNames: "[name].js",
    chunkFileNames: ({ moduleIds }) => `shared/${packageOf(moduleIds.at(-1)!)?.name.replace("@", "") ?? "runtime"}.js`,
  });
  return output.filter((file) => file.type === "chunk");
}

/** Undefined for code of the bundler itself. */
function packageOf(file: string): { directory: string; name: string } | undefined {
  const [directory, name] = /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file.replaceAll("\\", "/")) ?? [];
  return directory && name ? { directory, name } : undefined;
}

/** Writes the license texts of the bundled packages, each text once. */
function writeLicenses(chunks: readonly OutputChunk[]): void {
  const files = chunks.flatMap(({ moduleIds }) => moduleIds);
  const directories = new Set(files.map((file) => packageOf(file)?.directory).filter((path) => path !== undefined));
  const packagesByText = new Map<string, string[]>();
  for (const directory of [...directories].sort()) {
    const { name, version, license } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
    const text = readdirSync(directory)
      .filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
      .map((file) => `\n${readFileSync(join(directory, file), "utf8").trim()}\n`)
      .join("");
    packagesByText.set(text, [...(packagesByText.get(text) ?? []), `${name} ${version}: ${license}\n`]);
  }
  const sections = [...packagesByText].map(([text, packages]) => packages.join("") + text);
  writeFileSync(join(DIST, "vendor", "LICENSES.txt"), sections.join(`\n${"-".repeat(80)}\n\n`));
}

/** Returns the checkout's dependencies without the bundled ones, plus what the chunks import, in its locked version. */
function remainingDependencies(chunks: readonly OutputChunk[], page: readonly OutputChunk[]): Record<string, string> {
  const ofPage = new Set(page.flatMap(({ moduleIds }) => moduleIds.map((file) => packageOf(file)?.name)));
  const readJson = (name: string) => JSON.parse(readFileSync(join(ROOT, name), "utf8"));
  const { packages } = readJson("package-lock.json");
  const own = Object.entries<string>(readJson("package.json").dependencies).filter(
    ([name]) => !VENDORED.test(name) && !ofPage.has(name),
  );
  const written = new Set(chunks.map(({ fileName }) => fileName));
  const imports = chunks.flatMap((chunk) => [...chunk.imports, ...chunk.dynamicImports]);
  const external = imports.filter((name) => !written.has(name) && !isBuiltin(name));
  const locked = external.map((name) => [name, packages[`node_modules/${name}`].version] as const);
  return Object.fromEntries([...new Map([...own, ...locked])].sort());
}

const chunks = await bundle(redirectImports());
const pageChunks = await bundlePage(ROOT, join(DIST, "page"));
writeLicenses([...chunks, ...pageChunks]);
process.stdout.write(JSON.stringify(remainingDependencies(chunks, pageChunks)));
