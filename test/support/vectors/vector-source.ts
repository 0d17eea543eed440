import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { readTar } from "./tar.ts";
import { type CasePath, VectorCase } from "./vector-case.ts";

const PRESET = "minimal";
const FIXTURES = fileURLToPath(new URL("../../fixtures/consensus-specs", import.meta.url));

/**
 * Directory with other vectors: archives (`minimal-<fork>-<runner>.tar.gz` or `.tar.zst`) or the official layout
 * (`minimal/<fork>/<runner>/…`). Empty if only those of the repository are available.
 */
const OTHER_VECTORS = process.env.FANAL_SPEC_VECTORS ?? "";

type Read = () => Uint8Array;

/** Returns the cases of a runner by their path. A directory in FANAL_SPEC_VECTORS replaces those in the repository. */
export function vectorCases(fork: string, runner: string): VectorCase[] {
  const files = readRunner(OTHER_VECTORS || FIXTURES, fork, runner) ?? readRunner(FIXTURES, fork, runner);
  if (!files) throw new Error(`There are no vectors of ${fork}/${runner} in ${OTHER_VECTORS || FIXTURES}.`);
  const folders = Map.groupBy(files, ([path]) => path.slice(0, path.lastIndexOf("/")));
  return [...folders.keys()].sort().map((folder) => {
    const [handler = "", suite = "", name = ""] = folder.split("/");
    const path: CasePath = { fork, runner, handler, suite, name };
    return new VectorCase(path, new Map(folders.get(folder)!.map(([file, read]) => [basename(file), read])));
  });
}

/** Why only the vectors of the repository are run; undefined if there are others. */
export const skipsOtherVectors =
  OTHER_VECTORS === ""
    ? "FANAL_SPEC_VECTORS names no directory with reference vectors; only those of the repository were run."
    : undefined;

/** Returns the files of a runner by their path below it, or null if the directory has none. */
function readRunner(directory: string, fork: string, runner: string): [path: string, read: Read][] | null {
  const archive = join(directory, `${PRESET}-${fork}-${runner}.tar`);
  const prefix = `${PRESET}/${fork}/${runner}/`;
  const unpacked = join(directory, prefix);
  if (existsSync(unpacked)) return readFolder(unpacked);
  if (existsSync(`${archive}.zst`)) return readArchive(zstdDecompressSync(readFileSync(`${archive}.zst`)), prefix);
  if (existsSync(`${archive}.gz`)) return readArchive(gunzipSync(readFileSync(`${archive}.gz`)), prefix);
  return null;
}

function readArchive(tar: Uint8Array, prefix: string): [string, Read][] {
  const inRunner = [...readTar(tar)].filter(([path]) => path.startsWith(prefix));
  return inRunner.map(([path, content]) => [path.slice(prefix.length), () => content]);
}

function readFolder(folder: string): [string, Read][] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map(({ parentPath, name }) => {
    const path = join(parentPath, name);
    return [path.slice(folder.length).replaceAll(sep, "/"), () => readFileSync(path)];
  });
}

const basename = (path: string) => path.slice(path.lastIndexOf("/") + 1);
