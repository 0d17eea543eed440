import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "vitest";
import { parse } from "yaml";
import { tempDirectory } from "../../support/directories/temp-directory.ts";
import { freePorts } from "../../support/sockets/free-ports.ts";
import { outputPattern, ROOT, readGuide } from "./guide.ts";
import { Shell } from "./shell.ts";

/** Ports in the guides, each with the variable of which it is the default. They are replaced by free ones. */
const PORTS = {
  9190: "FANAL_RPC_PORT",
  5052: "FANAL_REST_PORT",
  8008: "FANAL_METRICS_PORT",
  9000: "FANAL_P2P_PORT",
  5062: undefined,
  8551: undefined,
  9191: undefined,
  8009: undefined,
  5053: undefined,
  9001: undefined,
};

/** Packages that guides install. */
const PACKAGES = ["viem", "solc", "vitest", "@crate-crypto/node-eth-kzg", "@types/node"];

export interface GuideOptions {
  /** Shell scripts that replace programs, by name. */
  readonly commands?: Readonly<Record<string, string>>;
  /** Ports that are served already, by the port in the guide. */
  readonly served?: Readonly<Record<string, string>>;
}

/** Executes the blocks of a guide one after another in a project of their own. */
export async function runGuide(name: string, { commands = {}, served = {} }: GuideOptions = {}): Promise<void> {
  const directory = tempDirectory();
  const free = await freePorts(Object.keys(PORTS).length);
  const ports = Object.entries(PORTS).map(([port, variable], index) => ({
    port,
    variable,
    used: served[port] ?? String(free[index]),
  }));
  const withFreePorts = (text: string) =>
    ports.reduce((result, { port, used }) => result.replaceAll(new RegExp(`\\b${port}\\b`, "g"), used), text);
  createProject(directory, commands);
  const shell = new Shell(directory, {
    PATH: [join(directory, "bin"), dirname(process.execPath), process.env.PATH].join(":"),
    FANAL_URL: withFreePorts("http://127.0.0.1:9190"),
    FANAL_DATA_DIR: join(directory, "data"),
    ...Object.fromEntries(ports.flatMap(({ variable, used }) => (variable ? [[variable, used]] : []))),
  });

  for (const { language, line, code, file, output } of readGuide(name).steps) {
    const text = withFreePorts(code);
    if (file !== undefined) {
      mkdirSync(dirname(join(directory, file)), { recursive: true });
      writeFileSync(join(directory, file), text);
    }
    const commandsOf = {
      sh: () => text,
      ts: () => (file ? "" : runModule(directory, line, text)),
      yaml: () => steps(file, text),
    };
    const command = commandsOf[language as keyof typeof commandsOf]?.() ?? "";
    const printed = command === "" ? "" : await shell.run(command);
    const place = `docs/guides/${name}.md:${line}`;
    if (output !== undefined) expect(printed, place).toMatch(outputPattern(withFreePorts(output)));
  }
}

/** A project with the package installed, from its sources. */
function createProject(directory: string, commands: Readonly<Record<string, string>>): void {
  const modules = join(directory, "node_modules");
  const installed = join(modules, "fanal");
  mkdirSync(installed, { recursive: true });
  const sources = { "./index.js": "src/library/index.ts", "./client.js": "src/client/index.ts" };
  for (const [name, source] of Object.entries(sources)) {
    const url = pathToFileURL(join(ROOT, source));
    writeFileSync(join(installed, name), `export * from ${JSON.stringify(url)};\n`);
  }
  const exports = { ".": "./index.js", "./client": "./client.js", "./package.json": "./package.json" };
  writeFileSync(join(installed, "package.json"), JSON.stringify({ name: "fanal", type: "module", exports }));
  for (const entry of ["docs", "examples"]) symlinkSync(join(ROOT, entry), join(installed, entry));
  for (const name of PACKAGES) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  }
  const programs = {
    fanal: `exec ${JSON.stringify(process.execPath)} ${JSON.stringify(join(ROOT, "bin/fanal.js"))} "$@"`,
    // Everything is installed already.
    npm: 'case "$1" in install|ci|init) ;; test) node --test ;; *) exit 1 ;; esac',
    npx: 'exec "$@"',
    vitest: `NO_COLOR=1 FORCE_COLOR= exec ${JSON.stringify(process.execPath)} ${JSON.stringify(join(ROOT, "node_modules/vitest/vitest.mjs"))} "$@"`,
    ...commands,
  };
  mkdirSync(join(directory, "bin"));
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(directory, "bin", name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(directory, "bin", name), 0o755);
  }
}

function runModule(directory: string, line: number, text: string): string {
  const file = `line-${line}.mts`;
  writeFileSync(join(directory, file), text);
  return `node ${file}`;
}

/** Returns the commands of a workflow of GitHub Actions. Other files of YAML have none. */
function steps(file: string | undefined, text: string): string {
  if (!file?.startsWith(".github/workflows/")) return "";
  const { jobs } = parse(text) as { jobs: Record<string, { steps: { run?: string }[] }> };
  return Object.values(jobs)
    .flatMap((job) => job.steps.flatMap(({ run }) => run ?? []))
    .join("\n");
}
