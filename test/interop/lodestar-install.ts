import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { it } from "vitest";

/** A Lodestar that can be started. */
export interface LodestarInstall {
  /** The Node that runs it. */
  node: string;
  /** Its JavaScript file. */
  program: string;
}

/** The Lodestar before deneb that the scripts install. */
export function ownLodestar(): LodestarInstall {
  return { node: fromEnvironment("INTEROP_NODE"), program: fromEnvironment("INTEROP_LODESTAR") };
}

function fromEnvironment(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set; run this with "npm run test:interop".`);
  return value;
}

/** A test with a current Lodestar, installed by the user. */
export function testWithCurrentLodestar(title: string, run: (install: LodestarInstall) => Promise<void>): void {
  it(title, async ({ skip }) => {
    const given = process.env.FANAL_TEST_LODESTAR;
    if (!given) {
      skip(
        "FANAL_TEST_LODESTAR is not set: it names the JavaScript file, or the package, of a Lodestar that knows fulu.",
      );
      return;
    }
    await run({
      node: process.env.FANAL_TEST_LODESTAR_NODE || process.execPath,
      program: programAt(resolve(given)),
    });
  });
}

/** The program itself, or that of a package in a folder. */
function programAt(path: string): string {
  if (!existsSync(path)) throw new Error(`FANAL_TEST_LODESTAR names ${path}, where there is nothing.`);
  if (statSync(path).isFile()) return path;
  const manifest = join(path, "package.json");
  const { bin } = existsSync(manifest) ? (JSON.parse(readFileSync(manifest, "utf8")) as { bin?: BinEntries }) : {};
  if (bin?.lodestar === undefined) {
    throw new Error(
      `FANAL_TEST_LODESTAR names the folder ${path}, whose package.json must have the program "lodestar", as that of @chainsafe/lodestar does.`,
    );
  }
  return join(path, bin.lodestar);
}

interface BinEntries {
  lodestar?: string;
}
