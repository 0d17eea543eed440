import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const program = join(root, "bin", "fanal.js");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "fanal-program-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the real program in a directory other than the repository's. */
function fanal(
  argv: string[],
  { file = program, environment = {} as Record<string, string>, execArgv = [] as string[] } = {},
) {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, ...environment };
  const { status, stdout, stderr } = spawnSync(process.execPath, [...execArgv, file, ...argv], {
    cwd: folder,
    env,
    encoding: "utf8",
    // A wrongly accepted command would run forever.
    timeout: 60_000,
  });
  return { status, stdout, stderr };
}

describe("program", () => {
  it("prints its version", () => {
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
    expect(fanal(["--version"])).toEqual({ status: 0, stdout: `fanal ${version}\n`, stderr: "" });
  });

  it("prints its help, also through a symbolic link", () => {
    const link = join(folder, "fanal");
    symlinkSync(program, link);
    const { status, stdout, stderr } = fanal(["--help"], { file: link });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain("Usage: fanal <command> [flags]");
    expect(fanal(["dev", "--help"]).stdout).toContain("--rpc-port <PORT>");
  });

  it("rejects an unknown flag with one sentence and exit code 2", () => {
    const complaint = "Unknown flag --rpc-prot. Did you mean --rpc-port?";
    expect(fanal(["dev", "--rpc-prot", "1"])).toEqual({ status: 2, stdout: "", stderr: `fanal: ${complaint}\n` });
  });

  it("rejects conflicting flags with one sentence, also in the log", () => {
    const complaint = "--validators 4 is too few: the minimal preset requires at least 8, one per slot.";
    const { status, stdout, stderr } = fanal(["dev", "--validators", "4", "--log-format", "json"]);
    expect({ status, stderr }).toEqual({ status: 2, stderr: `fanal: ${complaint}\n` });
    expect(JSON.parse(stdout)).toMatchObject({ level: "fatal", error: complaint, exit_code: 2 });
  });

  it("rejects an invalid variable and an invalid config file", () => {
    const variable = fanal(["dev"], { environment: { FANAL_SPEED: "fast" } });
    expect(variable.status).toBe(2);
    expect(variable.stderr).toMatch(/^fanal: The value "fast" of the environment variable FANAL_SPEED [^\n]+\n$/);

    writeFileSync(join(folder, "c.yaml"), "validater: 9\n");
    const file = fanal(["dev", "--config-file", "c.yaml"]);
    expect(file.status).toBe(2);
    expect(file.stderr).toBe(
      "fanal: The config file c.yaml is not valid: validater is unknown; did you mean validators?\n",
    );
  });

  it("exits with code 6 for unusable network files", () => {
    const { status, stderr } = fanal(["node", "--network", "."]);
    expect(status).toBe(6);
    expect(stderr).toMatch(/^fanal: The network file \S+config\.yaml cannot be read: ENOENT[^\n]+\n$/);
  });

  it("explains how to install missing dependencies, with an exit code that prevents a restart", () => {
    const copy = join(folder, "copy");
    for (const part of ["bin", "src", "package.json"]) {
      cpSync(join(root, part), join(copy, part), { recursive: true, filter: (path) => !path.endsWith(".test.ts") });
    }
    const { status, stdout, stderr } = fanal(["node"], { file: join(copy, "bin", "fanal.js") });
    expect(stderr).toMatch(/^fanal: The package \S+, which the program needs, is not installed: [^\n]+\n$/);
    expect(stderr).toContain(`"npm ci --omit=dev" in ${realpathSync(copy)} installs it`);
    const unit = readFileSync(join(root, "packaging", "fanal.service"), "utf8");
    const [, notStartedAgain] = /^RestartPreventExitStatus=(.+)$/m.exec(unit)!;
    expect(notStartedAgain!.split(" ")).toContain(String(status));
    expect(stdout).toBe("");
  });

  it("names the required Node version if none is new enough", () => {
    const copy = join(folder, "old-node");
    for (const part of ["bin", "package.json"]) cpSync(join(root, part), join(copy, part), { recursive: true });
    mkdirSync(join(copy, "src"));
    const versions = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.0" } });`;
    const execArgv = ["--import", `data:text/javascript,${encodeURIComponent(versions)}`];
    const start = () => fanal(["dev"], { file: join(copy, "bin", "fanal.js"), execArgv });
    const missing = start();
    expect(missing).toMatchObject({ status: 2, stdout: "" });
    expect(missing.stderr).toMatch(
      /^fanal: Node 24 or newer is needed and this is [^\n]+"npm ci --omit=dev" in [^\n]+\n$/,
    );

    // A binary built for another system.
    const platform = process.platform === "win32" ? "win" : process.platform;
    const packaged = join(copy, "node_modules", `node-${platform}-${process.arch}`);
    mkdirSync(join(packaged, "bin"), { recursive: true });
    writeFileSync(join(packaged, "package.json"), "{}");
    writeFileSync(join(packaged, "bin", platform === "win" ? "node.exe" : "node"), "");
    const unusable = start();
    expect(unusable).toMatchObject({ status: 2, stdout: "" });
    expect(unusable.stderr).toMatch(/^fanal: \S+node(\.exe)? cannot be started: [^\n]+\. Install Node 24\.\n$/);
  });
});
