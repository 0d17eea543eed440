import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { EXIT_CODES } from "../../src/cli/exit.ts";
import { type RemovableDirectory, removableDirectory } from "../support/directories/removable-directory.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { ProgramHere } from "../support/program/program-here.ts";
import { BIN } from "../support/program/program-process.ts";
import { isFullTier } from "../support/suite/tier.ts";

let node: ProgramHere;
let directory: RemovableDirectory;
beforeAll(async () => {
  directory = removableDirectory();
  const flags = [
    "--validators",
    "16",
    "--warmup-epochs",
    "0",
    "--dev-validators",
    "none",
    "--data-dir",
    directory.path,
  ];
  node = await ProgramHere.dev(flags, { whenDone: () => {} });
});
afterAll(async () => {
  await node.stop();
  directory.remove();
});

interface Run {
  input?: string;
  cwd?: string;
  /** Destination of standard output, instead of the test. */
  out?: "pipe" | number;
}

/** Runs the client like a user, against the node of these tests. */
async function fanal(args: string[], { input = "", cwd, out = "pipe" }: Run = {}) {
  const child = spawn(process.execPath, [BIN, ...args], {
    env: { ...process.env, FANAL_URL: node.url },
    cwd,
    stdio: ["pipe", out, "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const output = { out: "", err: "" };
  child.stdout?.setEncoding("utf8").on("data", (text) => (output.out += text));
  child.stderr!.setEncoding("utf8").on("data", (text) => (output.err += text));
  child.stdin!.end(input);
  const [code] = await once(child, "close");
  return { code, ...output };
}

it("the console runs calls line by line, and exits with the code of the last failure", async () => {
  const version = await node.call("getNodeVersion");
  const ran = await fanal(["console"], { input: "getNodeVersion\nno_such_method\nget_v1_node_version --json\n" });
  expect(ran).toMatchObject({ code: 1, out: `${version}\n{"version":"${version}"}\n` });
  expect(ran.err).toContain('The method "no_such_method" does not exist.');
});

it("reports an unwritable output in one sentence", async (context) => {
  context.skip(!existsSync("/dev/full"), "the platform has no /dev/full");
  const out = openSync("/dev/full", "w");
  onTestFinished(() => closeSync(out));
  const runs: [string[], Run?][] = [
    [["--help"]],
    [["call", "getNodeVersion"]],
    [["console"], { input: "getNodeVersion\ngetNodeVersion\n" }],
  ];
  for (const [args, run] of runs) {
    expect(await fanal(args, { ...run, out }), args.join(" ")).toEqual({
      code: EXIT_CODES.outputFailed,
      out: "",
      err: "fanal: Standard output cannot be written: ENOSPC: no space left on device, write.\n",
    });
  }
});

it("a call is printed formatted or as raw JSON", async () => {
  const genesis = await node.call("get_v1_beacon_genesis");
  const readable = await fanal(["call", "get_v1_beacon_genesis"]);
  expect(readable).toMatchObject({ code: 0, err: "" });
  for (const [name, value] of Object.entries(genesis)) {
    expect(readable.out).toMatch(new RegExp(`^${name} +${value}$`, "m"));
  }
  const raw = await fanal(["call", "get_v1_beacon_headers_blockId", "genesis", "--json", "--meta"]);
  const { result, meta } = await node.reply("get_v1_beacon_headers_blockId", ["genesis"], { meta: true });
  expect(JSON.parse(raw.out)).toEqual({ result, meta });
});

if (isFullTier) {
  it("parameters come from the line, from a file and from standard input", async () => {
    const cwd = tempDirectory();
    writeFileSync(join(cwd, "ids.json"), '["0", "3"]');
    const method = "get_v1_beacon_states_stateId_validator_balances";
    const expected = await node.call(method, ["head", ["0", "3"]]);
    for (const [param, input] of [['["0","3"]'], ["@ids.json"], ["-", '["0","3"]']] as const) {
      const { code, out } = await fanal(["call", method, "head", param, "--json"], { cwd, input });
      expect(code).toBe(0);
      expect(JSON.parse(out)).toEqual(expected);
    }
  });
}

if (isFullTier) {
  it("the exit code tells the outcome", async () => {
    const unknown = await fanal(["call", "getBeaconHed"]);
    expect(unknown).toMatchObject({ code: 1, out: "" });
    expect(unknown.err).toMatch(/^fanal: The method "getBeaconHed" does not exist\. Did you mean "getBeaconHead"\?\n/);
    expect(unknown.err).toMatch(/^ {2}code +-32601$/m);
    expect(await fanal(["call"])).toMatchObject({ code: 2, out: "" });
    expect(await fanal(["call", "getBeaconHead", "--url", "http://127.0.0.1:1", "--timeout", "1"])).toMatchObject({
      code: 8,
      out: "",
    });
  });
}

it("a closed pipe is not an error", async () => {
  const child = spawn(process.execPath, [BIN, "call", "getBeaconState", "head", "--json"], {
    env: { ...process.env, FANAL_URL: node.url },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let err = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (err += text));
  child.stdout.destroy();
  const [code] = await once(child, "close");
  expect({ code, err }).toEqual({ code: 0, err: "" });
});

it("the client loads no chain code", async () => {
  const report = join(tempDirectory(), "loaded.json");
  const hook = join(tempDirectory(), "record-loaded.mjs");
  writeFileSync(
    hook,
    `import { registerHooks } from "node:module";
     import { writeFileSync } from "node:fs";
     const loaded = [];
     registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
     process.on("exit", () => writeFileSync(${JSON.stringify(report)}, JSON.stringify(loaded)));`,
  );
  const child = spawn(process.execPath, ["--import", hook, BIN, "call", "getBeaconHead"], {
    env: { ...process.env, FANAL_URL: node.url },
    stdio: "ignore",
  });
  const [code] = await once(child, "close");
  expect(code).toBe(0);
  const loaded = JSON.parse(readFileSync(report, "utf8")) as string[];
  expect(loaded.some((url) => url.endsWith("/src/cli/call/call.ts"))).toBe(true);
  expect(
    loaded.filter((url) => /node_modules\/(@lodestar|@chainsafe|find-my-way|classic-level|undici)/.test(url)),
  ).toEqual([]);
});
