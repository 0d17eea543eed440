import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { methods } from "../../src/api/method-groups.ts";
import { EXIT_CODES } from "../../src/cli/exit.ts";
import { parseCommandLine } from "../../src/cli/flags/command-line.ts";
import { nodeSettings } from "../../src/cli/flags/node/node-settings.ts";
import { resolveFlags } from "../../src/cli/flags/resolve-flags.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** Parses a command line to the options of a node. */
function optionsOf([file, ...argv]: readonly string[], environment: Record<string, string> = {}) {
  expect(existsSync(join(ROOT, file!))).toBe(true);
  const line = parseCommandLine(argv, "1");
  if (line.kind !== "run" || line.command !== "node") throw new Error(`This starts no node: ${argv.join(" ")}`);
  return nodeSettings(resolveFlags("node", { flagTexts: line.flagTexts, environment, workingDirectory: "/" }), "/");
}

describe("the container file", () => {
  const instructions = read("Dockerfile")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => ({ name: line.split(" ")[0]!, rest: line.slice(line.indexOf(" ") + 1) }));
  const all = (name: string) => instructions.filter((instruction) => instruction.name === name).map(({ rest }) => rest);
  const words = (name: string) => JSON.parse(all(name).at(-1)!) as string[];
  const variables = Object.fromEntries(all("ENV").flatMap((rest) => rest.split(" ").map((each) => each.split("="))));
  const startedBy = (argv: readonly string[]) => optionsOf([...words("ENTRYPOINT").slice(1), ...argv], variables);
  const copied = all("COPY")
    .filter((rest) => !rest.startsWith("--from"))
    .flatMap((rest) => rest.split(" ").slice(0, -1));

  it("copies only existing files that .dockerignore includes", () => {
    expect(copied).toContain("src");
    expect(copied.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    const allowed = read(".dockerignore")
      .split("\n")
      .filter((line) => line.startsWith("!"))
      .map((line) => line.slice(1));
    expect(allowed.toSorted()).toEqual([...new Set(copied)].toSorted());
  });

  it("starts a node that keeps its data in the volume, as a user that is not root", () => {
    expect(words("ENTRYPOINT")[0]).toBe("node");
    expect(startedBy(words("CMD"))).toMatchObject({ dataDir: all("VOLUME")[0], servers: { rest: expect.anything() } });
    expect(all("USER")).toEqual(["node"]);
  });

  it("starts a new node in the volume with the documented commands", () => {
    const volume = all("VOLUME")[0]!;
    const documents = ["docs/operating.md", "docs/reference/access-control.md"];
    const text = documents
      .map(read)
      .join("")
      .replace(/ \\\n */g, " ");
    const commands = [...text.matchAll(/^docker run (.+?) fanal (node .+)$/gm)];
    expect(commands.length).toBeGreaterThan(1);
    for (const [command, forDocker, argv] of commands) {
      expect(forDocker, command).toContain(`-v fanal:${volume}`);
      const options = startedBy(argv!.split(" "));
      expect(options, command).toMatchObject({
        dataDir: volume,
        servers: { rest: expect.anything() },
        checkpoint: expect.anything(),
      });
    }
  });

  it("checks the health at the URL that the node serves", () => {
    const { rest } = startedBy(words("CMD")).servers;
    const [, url] = /fetch\('(http:[^']+)'\)/.exec(all("HEALTHCHECK")[0]!)!;
    expect(url).toContain(`http://127.0.0.1:${rest?.port}/`);
    const probes = methods.filter(({ isProbe }) => isProbe);
    expect(probes.flatMap(({ rest }) => rest.map(({ path }) => path))).toContain(new URL(url!).pathname);
  });

  it("accepts only a success status as healthy", async () => {
    const [, , ...check] = JSON.parse(all("HEALTHCHECK")[0]!.replace(/^.*?CMD /, "")) as string[];
    const exitCodeFor = async (answer: Promise<{ ok: boolean; status: number }>) => {
      const { promise, resolve } = Promise.withResolvers<number>();
      runInNewContext(check[0]!, { fetch: () => answer, process: { exit: resolve } });
      return promise;
    };
    expect(await exitCodeFor(Promise.resolve(new Response()))).toBe(0);
    expect(await exitCodeFor(Promise.resolve(new Response(null, { status: 206 })))).toBe(0);
    for (const status of [401, 403, 503]) {
      expect(await exitCodeFor(Promise.resolve(new Response(null, { status }))), String(status)).toBe(1);
    }
    expect(await exitCodeFor(Promise.reject(new Error("refused")))).toBe(1);
  });

  it("has the Node version that the program requires", () => {
    const [, needed] = /CHECKOUT_MAJOR = (\d+)/.exec(read("bin/own-node.js"))!;
    const images = all("FROM").map((from) => from.split(" ")[0]);
    expect(new Set(images)).toEqual(new Set([`node:${needed}-slim`]));
  });
});

describe("the systemd unit of a gateway", () => {
  const unit = read("packaging/fanal-gateway.service");
  const commandOf = (key: string) =>
    new RegExp(`^${key}=/opt/fanal/bin/fanal.js (.+)$`, "m").exec(unit)![1]!.split(" ");

  it("checks its config file before a start and a reload", () => {
    const start = parseCommandLine(commandOf("ExecStart"), "1");
    if (start.kind !== "run") throw new Error("It starts nothing.");
    const [file] = start.flagTexts.get("config-file")!;
    expect(start.command).toBe("gateway");
    for (const key of ["ExecStartPre", "ExecReload"]) expect(commandOf(key)).toEqual(["gateway", "check", file]);
    expect(unit).toContain("ExecReload=/bin/kill -HUP $MAINPID");
  });

  it("is accepted by systemd and sandboxes the service", (context) => {
    context.skip(spawnSync("systemd-analyze", ["--version"]).status !== 0, "systemd-analyze is not on the PATH");
    expectAccepted("fanal-gateway.service", unit);
  });
});

/** Throws unless systemd accepts the unit and rates it as well protected. */
function expectAccepted(name: string, unit: string): void {
  const file = join(tempDirectory(), name);
  writeFileSync(file, unit.replaceAll("/opt/fanal/", `${ROOT}/`));
  const analyze = (...args: string[]) => spawnSync("systemd-analyze", [...args, file], { encoding: "utf8" });
  const { status, stdout, stderr } = analyze("verify", "--man=no");
  expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: "" });
  // Tenths of systemd's exposure level. Below 2.0 a service counts as well protected.
  expect(analyze("security", "--offline=true", "--threshold=20").status).toBe(0);
}

describe("the systemd unit", () => {
  const unit = read("packaging/fanal.service");
  const installed = "/opt/fanal/";

  it("starts a node in its state directory", () => {
    const [, state] = /^StateDirectory=(.+)$/m.exec(unit)!;
    const [, start] = new RegExp(`^ExecStart=${installed}(.+)$`, "m").exec(unit)!;
    expect(optionsOf(start!.split(" "))).toMatchObject({
      dataDir: `/var/lib/${state}`,
      servers: { jsonRpc: expect.anything(), rest: expect.anything() },
    });
    const [, documents] = new RegExp(`^Documentation=file://${installed}(.+)$`, "m").exec(unit)!;
    expect(existsSync(join(ROOT, documents!))).toBe(true);
  });

  it("is not restarted after permanent errors", () => {
    const [, codes] = /^RestartPreventExitStatus=(.+)$/m.exec(unit)!;
    const { usage, dataDirMismatch, unreadableInput, dataDirUnusable } = EXIT_CODES;
    expect(codes!.split(" ").map(Number)).toEqual([usage, dataDirMismatch, unreadableInput, dataDirUnusable]);
  });

  it("is accepted by systemd and sandboxes the service", (context) => {
    context.skip(spawnSync("systemd-analyze", ["--version"]).status !== 0, "systemd-analyze is not on the PATH");
    expectAccepted("fanal.service", unit);
  });
});
