import { EventEmitter } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempDirectory } from "../../test/support/directories/temp-directory.ts";
import { createLogger, type LogControl } from "../log/pino-logger.ts";
import { EXIT_CODES, StartupError } from "./exit.ts";
import type { DevCommandSettings } from "./flags/dev/dev-settings.ts";
import type { NodeCommandSettings } from "./flags/node/node-settings.ts";
import { type CliContext, main } from "./main.ts";
import type { RunningNode } from "./run.ts";
import type { GatewayStart } from "./start/gateway.ts";

type Started = DevCommandSettings | NodeCommandSettings | GatewayStart;

const FINISHED: RunningNode = { stopped: Promise.resolve(), stop: async () => {} };

function setup(
  environment: Record<string, string | undefined> = {},
  outcome: () => RunningNode = () => FINISHED,
  { isInteractive = false } = {},
) {
  const written = { out: "", err: "", log: "" };
  const started: { options: Started; presetAtLoad: string | undefined; log: LogControl }[] = [];
  const load = async () => {
    const presetAtLoad = environment.LODESTAR_PRESET;
    return async (options: Started, _logger: unknown, log: LogControl) => {
      started.push({ options, presetAtLoad, log });
      return outcome();
    };
  };
  const context: CliContext = {
    environment,
    workingDirectory: "/nowhere",
    err: (text) => (written.err += text),
    createLog: (options) => createLogger({ ...options, destination: { write: (line) => (written.log += line) } }),
    events: new EventEmitter(),
    exitNow: () => {},
    endBy: () => {},
    timers: { now: () => 0, every: () => () => {} },
    setUmask: () => {},
    runners: { dev: load, node: load, gateway: load },
    terminal: {
      isInteractive,
      write: async (chunk) => {
        written.out += String(chunk);
        return true;
      },
      writeError: (text) => (written.err += text),
      readInput: async () => Buffer.alloc(0),
    },
  };
  return { written, started, run: (...argv: string[]) => main(argv, context) };
}

describe("main", () => {
  it("starts a dev chain and sets the preset before the chain code is loaded", async () => {
    const { run, started } = setup({ LODESTAR_PRESET: "gnosis", FANAL_RPC: "true" });
    expect(await run("dev", "--preset", "mainnet", "--validators", "40")).toBe(0);
    expect(started).toEqual([expect.objectContaining({ presetAtLoad: "mainnet" })]);
    expect(started[0]?.options).toMatchObject({
      validators: 40,
      servers: { jsonRpc: { port: 9190 } },
      dataDir: "/nowhere/.fanal/dev",
    });
  });

  it("starts a node with the preset of its network", async () => {
    const { run, started } = setup();
    expect(await run("node", "--network", "chiado")).toBe(0);
    expect(started[0]?.presetAtLoad).toBe("gnosis");
    expect(started[0]?.options).toMatchObject({ network: { name: "chiado" }, dataDir: "/nowhere/.fanal/chiado" });
  });

  it("starts a gateway without a preset, which the upstreams determine", async () => {
    const environment: Record<string, string | undefined> = {};
    const { run, started } = setup(environment);
    expect(await run("gateway", "--upstream", "http://127.0.0.1:1")).toBe(0);
    expect(started[0]?.presetAtLoad).toBeUndefined();
    expect(started[0]?.options).toMatchObject({
      gateway: { workers: 1 },
      environment,
      servers: { jsonRpc: { port: 9190 } },
    });
  });

  it("creates the log from flags and passes its control to the runner", async () => {
    const { run, started, written } = setup();
    await run("dev", "--log-format", "json", "--log-level", "ERROR");
    expect(written.log).toBe("");
    started[0]?.log.setSpec("DEBUG");
    started[0]?.log.logger.debug("Seen");
    expect(JSON.parse(written.log)).toMatchObject({ level: "debug", msg: "Seen" });
  });

  it("prints a startup error as one sentence", async () => {
    const { run, written } = setup({}, () => {
      throw new StartupError("dataDirInUse", "The data directory is in use.");
    });
    expect(await run("dev")).toBe(EXIT_CODES.dataDirInUse);
    expect(written.err).toBe("fanal: The data directory is in use.\n");
  });

  describe("a fatal error", () => {
    const fail = () => {
      throw new StartupError("dataDirInUse", "The data directory is in use.");
    };
    const record = {
      level: "fatal",
      msg: "Fatal error, exiting",
      error: "The data directory is in use.",
      exit_code: EXIT_CODES.dataDirInUse,
    };

    it("is written to the log and to standard error", async () => {
      const { run, written } = setup({}, fail);
      expect(await run("node", "--log-format", "json")).toBe(EXIT_CODES.dataDirInUse);
      expect(JSON.parse(written.log)).toMatchObject(record);
      expect(written.err).toBe("fanal: The data directory is in use.\n");
    });

    it("is written to the log file", async () => {
      const logFile = join(tempDirectory(), "log");
      const { run } = setup({}, fail, { isInteractive: true });
      expect(await run("dev", "--log-format", "json", "--log-file", logFile)).toBe(EXIT_CODES.dataDirInUse);
      expect(JSON.parse(await readFile(logFile, "utf8"))).toMatchObject(record);
    });

    it("is logged for conflicting flags", async () => {
      const { run, written } = setup();
      for (const words of [["gateway"], ["node", "--network", "no-network"]]) {
        written.log = "";
        expect(await run(...words)).toBe(EXIT_CODES.usage);
        expect(written.log).toMatch(/ FATAL .*Fatal error, exiting .*exit_code=2/);
      }
    });

    it("lists the problems of a gateway's flags, its config file and its methods", async () => {
      const { run, written } = setup();
      const file = join(tempDirectory(), "gateway.yaml");
      await writeFile(file, "qurom: 2\nupstreams: [{ url: http://a, tier: x }]\nmethods: { unknownMethod: {} }");
      expect(await run("gateway", "--config-file", file, "--rest-port", "x")).toBe(EXIT_CODES.usage);
      expect(written.err.split("\n")).toEqual([
        `fanal: The flags and the config file ${file} have 4 problems:`,
        expect.stringContaining("--rest-port"),
        expect.stringContaining("qurom"),
        expect.stringContaining("upstreams[0].tier"),
        expect.stringContaining("methods.unknownMethod"),
        "",
      ]);
    });

    it("is shown once on a terminal", async () => {
      const { run, written } = setup({}, fail, { isInteractive: true });
      expect(await run("dev")).toBe(EXIT_CODES.dataDirInUse);
      expect(written).toMatchObject({ log: "", err: "fanal: The data directory is in use.\n" });
    });
  });

  it("logs the stack of an unexpected error", async () => {
    const { run, written } = setup({}, () => {
      throw new TypeError("It broke.");
    });
    expect(await run("dev")).toBe(EXIT_CODES.internal);
    expect(written.log).toMatch(/FATAL .*error="It broke\."\n {4}TypeError: It broke\.\n {8}at /);
    expect(written.err).toBe("");
  });

  it("prints requested help to standard output, other help to standard error", async () => {
    const { run, written, started } = setup();
    expect(await run("dev", "--help")).toBe(0);
    expect(written.out).toContain("--slot-seconds <SECONDS>");
    expect(written.err).toBe("");
    expect(await run()).toBe(EXIT_CODES.usage);
    expect(written.err).toContain("Usage: fanal");
    expect(started).toEqual([]);
  });

  it("lists the methods", async () => {
    const { run, written } = setup();
    expect(await run("methods")).toBe(0);
    expect(written.out).toContain("get_v1_beacon_genesis");
    written.out = "";
    expect(await run("methods", "--json")).toBe(0);
    expect(JSON.parse(written.out)).toContainEqual(expect.objectContaining({ number: 1 }));
  });

  it("rejects a call without a method or with an invalid URL", async () => {
    const { run, written } = setup({ FANAL_CONFIG_FILE: "a-file-for-nodes.yaml" });
    expect(await run("call")).toBe(EXIT_CODES.usage);
    expect(written.err).toMatch(/^fanal: Missing method. /);
    expect(await run("call", "getBeaconHead", "--url", "localhost:9190")).toBe(EXIT_CODES.usage);
    expect(written.err).toContain('The value "localhost:9190" of --url is not accepted');
  });

  it("reports an unreachable node in one sentence", async () => {
    const { run, written } = setup({ FANAL_URL: "http://127.0.0.1:1", FANAL_TIMEOUT: "0.5" });
    expect(await run("call", "getBeaconHead")).toBe(EXIT_CODES.noAnswer);
    const [waiting, unreachable] = written.err.split("\n");
    expect(waiting).toBe("fanal: Waiting up to 0.5 seconds for a node at http://127.0.0.1:1.");
    expect(unreachable).toMatch(/^fanal: The node at http:\/\/127\.0\.0\.1:1 is unreachable: /);
  });
});
