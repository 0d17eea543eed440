import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const NODE_PACKAGE = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
const repository = fileURLToPath(new URL("../../", import.meta.url));

/** Stands in for npm: notes how it was called and installs what the lock file says, or fails as it is told to. */
const FAKE_NPM = `
const fs = require("node:fs");
const [command] = process.argv.slice(2);
fs.appendFileSync("calls.txt", command + "\\n");
const failure = fs.existsSync("fail-" + command) && fs.readFileSync("fail-" + command, "utf8");
if (failure) {
  console.error(failure);
  process.exit(1);
}
fs.mkdirSync("node_modules", { recursive: true });
fs.copyFileSync("package-lock.json", "node_modules/.package-lock.json");
`;

const lock = (version: string) => {
  const packages = {
    "": { name: "example" },
    "node_modules/a": { version, integrity: `sha512-${version}` },
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

  function ensure(): Promise<{ code: number | null; output: string }> {
    const env = { ...process.env, npm_execpath: join(root, "npm", "cli.js") };
    const child = spawn(process.execPath, [join(root, "scripts", "ensure-dependencies.js")], { env, cwd: tmpdir() });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
    return new Promise((resolve) => child.on("close", (code) => resolve({ code, output })));
  }
  const calls = () =>
    existsSync(join(root, "calls.txt")) ? readFileSync(join(root, "calls.txt"), "utf8").split("\n") : [];

  it("installs once, with one line, and is silent when nothing is to do", async () => {
    const first = await ensure();
    expect(first.code).toBe(0);
    expect(first.output).toMatch(/^fanal: installing the locked dependencies[^\n]+\n$/);
    expect(await ensure()).toEqual({ code: 0, output: "" });
    expect(calls()).toEqual(["ci", ""]);
    expect(existsSync(join(root, ".fanal"))).toBe(false);
  });

  it("installs again when the lock file names another version", async () => {
    await ensure();
    writeFileSync(join(root, "package-lock.json"), lock("1.0.1"));
    await ensure();
    expect(calls()).toEqual(["ci", "ci", ""]);
  });

  it("does not miss packages for other platforms", async () => {
    mkdirSync(join(root, "node_modules"));
    const { packages } = JSON.parse(lock("1.0.0"));
    delete packages["node_modules/for-another-platform"];
    writeFileSync(join(root, "node_modules", ".package-lock.json"), JSON.stringify({ packages }));
    expect(await ensure()).toEqual({ code: 0, output: "" });
  });

  it("installs again when the Node of this platform is missing, optional as it is to npm", async () => {
    const { packages } = JSON.parse(lock("1.0.0"));
    packages[`node_modules/${NODE_PACKAGE}`] = { version: "24.0.0", optional: true };
    writeFileSync(join(root, "package-lock.json"), JSON.stringify({ packages }));
    await ensure();
    await ensure();
    expect(calls()).toEqual(["ci", "ci", ""]);
    const installed = join(root, "node_modules", NODE_PACKAGE);
    mkdirSync(join(installed, "bin"), { recursive: true });
    writeFileSync(join(installed, "package.json"), "{}");
    writeFileSync(join(installed, "bin", process.platform === "win32" ? "node.exe" : "node"), "");
    expect(await ensure()).toEqual({ code: 0, output: "" });
  });

  it("installs once when two start together", async () => {
    const results = await Promise.all([ensure(), ensure()]);
    expect(results.map(({ code }) => code)).toEqual([0, 0]);
    expect(calls()).toEqual(["ci", ""]);
  });

  it("takes over from a process that died in the middle", async () => {
    const dead = spawn(process.execPath, ["--version"]);
    await new Promise((resolve) => dead.on("close", resolve));
    mkdirSync(join(root, ".fanal"));
    writeFileSync(join(root, ".fanal", "install.lock"), String(dead.pid));
    expect((await ensure()).code).toBe(0);
    expect(calls()).toEqual(["ci", ""]);
  });

  it("falls back to a plain install of the locked versions when npm ci refuses the lock file", async () => {
    writeFileSync(join(root, "fail-ci"), "npm error code EUSAGE");
    expect((await ensure()).code).toBe(0);
    expect(calls()).toEqual(["ci", "install", ""]);
  });

  it("says what npm said, and fails, when it cannot install", async () => {
    writeFileSync(join(root, "fail-ci"), "npm error network");
    const { code, output } = await ensure();
    expect(code).toBe(1);
    expect(output).toContain("npm error network\n");
    expect(output).toMatch(/fanal: the dependencies could not be installed: "npm ci" ended with exit code 1\.\n$/);
    expect(calls()).toEqual(["ci", ""]);
    expect(existsSync(join(root, ".fanal", "install.lock"))).toBe(false);
  });
});
