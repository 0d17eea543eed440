import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const NODE_PACKAGE = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
const repository = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Records its arguments and installs the packages of the lock file. Fails with the content of the file "fail", and is
 * killed halfway if the file "die" exists.
 */
const FAKE_NPM = `
const fs = require("node:fs");
const args = process.argv.slice(2);
fs.appendFileSync("calls.txt", args.join(" ") + "\\n");
if (fs.existsSync("fail")) {
  console.error(fs.readFileSync("fail", "utf8"));
  process.exit(1);
}
fs.mkdirSync("node_modules/a", { recursive: true });
if (fs.existsSync("die")) process.kill(process.pid, "SIGKILL");
const lock = JSON.parse(fs.readFileSync("package-lock.json", "utf8"));
const isOmitted = ({ dev, optional }) => optional || (dev && args.includes("--omit=dev"));
const packages = Object.entries(lock.packages).filter(([, entry]) => !isOmitted(entry));
fs.writeFileSync("node_modules/.package-lock.json", JSON.stringify({ packages: Object.fromEntries(packages) }));
`;
const FLAGS = "--no-audit --no-fund --loglevel=error";
const PRODUCTION = `install --no-save --omit=dev ${FLAGS}`;
const ALL = `install --no-save --include=dev ${FLAGS}`;

const lock = (version: string) => {
  const packages = {
    "": { name: "example" },
    "node_modules/a": { version, integrity: `sha512-${version}` },
    "node_modules/for-development": { version, integrity: `sha512-${version}`, dev: true },
    "node_modules/for-another-platform": { version: "1.0.0", optional: true },
  };
  return JSON.stringify({ lockfileVersion: 3, packages });
};

describe("ensure-dependencies", () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "fanal-install-"));
    for (const folder of ["scripts", "bin"]) cpSync(join(repository, folder), join(root, folder), { recursive: true });
    writeFileSync(join(root, "package.json"), JSON.stringify({ type: "module" }));
    writeFileSync(join(root, "package-lock.json"), lock("1.0.0"));
    mkdirSync(join(root, "npm"));
    writeFileSync(join(root, "npm", "package.json"), "{}");
    writeFileSync(join(root, "npm", "cli.js"), FAKE_NPM);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  interface Run {
    flags?: readonly string[];
    /** Code that Node runs before the script. */
    setup?: string;
  }

  function ensure({ flags = [], setup = "" }: Run = {}): Promise<{ code: number | null; output: string }> {
    const env = { ...process.env, npm_execpath: join(root, "npm", "cli.js") };
    const script = join(root, "scripts", "ensure-dependencies.js");
    const args = ["--import", `data:text/javascript,${encodeURIComponent(setup)}`, script, ...flags];
    const child = spawn(process.execPath, args, { env, cwd: tmpdir() });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
    return new Promise((resolve) => child.on("close", (code) => resolve({ code, output })));
  }
  const ensureProduction = () => ensure({ flags: ["--omit=dev"] });
  const calls = () =>
    existsSync(join(root, "calls.txt")) ? readFileSync(join(root, "calls.txt"), "utf8").trim().split("\n") : [];

  it("installs once, prints start and end, and is silent if nothing is missing", async () => {
    const first = await ensure();
    expect(first.code).toBe(0);
    expect(first.output).toMatch(/^fanal: installing dependencies[^\n]+\nfanal: installed dependencies in \d+ s\.\n$/);
    expect(await ensure()).toEqual({ code: 0, output: "" });
    expect(calls()).toEqual([ALL]);
    expect(existsSync(join(root, ".fanal"))).toBe(false);
  });

  it("updates one line in place on a terminal", async () => {
    const { output } = await ensure({ setup: "process.stderr.isTTY = true" });
    expect(output).toMatch(/^(\rfanal: installing dependencies, \d+ s)+\rfanal: installed dependencies in \d+ s\.\n$/);
  });

  it("installs again when the lock file changes a version", async () => {
    await ensure();
    writeFileSync(join(root, "package-lock.json"), lock("1.0.1"));
    await ensure();
    expect(calls()).toEqual([ALL, ALL]);
  });

  it("omits development packages until they are needed", async () => {
    await ensureProduction();
    expect(await ensureProduction()).toEqual({ code: 0, output: "" });
    await ensure();
    expect(calls()).toEqual([PRODUCTION, ALL]);
    expect(await ensureProduction()).toEqual({ code: 0, output: "" });
    writeFileSync(join(root, "package-lock.json"), lock("1.0.1"));
    await ensureProduction();
    expect(calls()).toEqual([PRODUCTION, ALL, ALL]);
  });

  it("compares a package without a hash in the lock file by version", async () => {
    const { packages } = JSON.parse(lock("1.0.0"));
    await ensure();
    delete packages["node_modules/a"].integrity;
    writeFileSync(join(root, "package-lock.json"), JSON.stringify({ packages }));
    expect(await ensure()).toEqual({ code: 0, output: "" });
  });

  it("installs again when the package of Node is missing and the system has an older Node", async () => {
    const { packages } = JSON.parse(lock("1.0.0"));
    packages[`node_modules/${NODE_PACKAGE}`] = { version: "24.0.0", optional: true };
    writeFileSync(join(root, "package-lock.json"), JSON.stringify({ packages }));
    const setup = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.0.0" } })';
    await ensure({ setup });
    await ensure({ setup });
    expect(calls()).toEqual([ALL, ALL]);
    expect(await ensure()).toEqual({ code: 0, output: "" });
    const installed = join(root, "node_modules", NODE_PACKAGE);
    mkdirSync(join(installed, "bin"), { recursive: true });
    writeFileSync(join(installed, "package.json"), "{}");
    writeFileSync(join(installed, "bin", process.platform === "win32" ? "node.exe" : "node"), "");
    expect(await ensure({ setup })).toEqual({ code: 0, output: "" });
  });

  it("installs once when two processes start together", async () => {
    const results = await Promise.all([ensure(), ensure()]);
    expect(results.map(({ code }) => code)).toEqual([0, 0]);
    expect(calls()).toEqual([ALL]);
  });

  it("takes over the lock of a dead process", async () => {
    const dead = spawn(process.execPath, ["--version"]);
    await new Promise((resolve) => dead.on("close", resolve));
    mkdirSync(join(root, ".fanal"));
    writeFileSync(join(root, ".fanal", "install.lock"), String(dead.pid));
    expect((await ensure()).code).toBe(0);
    expect(calls()).toEqual([ALL]);
  });

  it("restarts an interrupted install", async () => {
    await ensureProduction();
    writeFileSync(join(root, "die"), "");
    expect((await ensure()).output).toContain("npm ended with SIGKILL");
    writeFileSync(join(root, "node_modules", "a", "half"), "");
    rmSync(join(root, "die"));
    expect((await ensureProduction()).code).toBe(0);
    expect(calls()).toEqual([PRODUCTION, ALL, PRODUCTION]);
    expect(existsSync(join(root, "node_modules", "a", "half"))).toBe(false);
    expect(await ensureProduction()).toEqual({ code: 0, output: "" });
  });

  it("prints the output of npm on failure and keeps the earlier install", async () => {
    await ensureProduction();
    writeFileSync(join(root, "fail"), "npm error network");
    const { code, output } = await ensure();
    expect(code).toBe(1);
    expect(output).toContain("npm error network\n");
    expect(output).toMatch(/fanal: the dependencies could not be installed: npm ended with exit code 1\.\n$/);
    expect(calls()).toEqual([PRODUCTION, ALL]);
    expect(existsSync(join(root, ".fanal", "install.lock"))).toBe(false);
    expect(await ensureProduction()).toEqual({ code: 0, output: "" });
  });
});
