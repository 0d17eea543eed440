import { resolve } from "node:path";
import { SYSTEM_TIMERS, type Timers } from "../async/timers.ts";
import type { Logger } from "../log/logger.ts";
import { createLogger, type LogControl } from "../log/pino-logger.ts";
import { VERSION } from "../runtime/version.ts";
import { callAsWritten } from "./call/command.ts";
import { readShell } from "./completion/shells.ts";
import { readDbOperands } from "./db/actions.ts";
import { EXIT_CODES, usageError } from "./exit.ts";
import { type CommandLine, parseCommandLine } from "./flags/command-line.ts";
import type { NodeCommandName } from "./flags/commands.ts";
import { gatewayOptions } from "./flags/gateway-options.ts";
import { idleFlags, type ServersAskedFor } from "./flags/idle-flags.ts";
import {
  type DevOptions,
  devDataDir,
  devOptions,
  type LogOptions,
  logOptions,
  type NodeOptions,
  nodeOptions,
} from "./flags/options.ts";
import { type FlagSources, resolveFlags } from "./flags/resolve-flags.ts";
import { type ProcessEvents, type RunningNode, runUntilStopped, type StopSignal } from "./run.ts";
import type { GatewayStart } from "./start/gateway.ts";
import { asStartupError } from "./start/start-errors.ts";
import { processTerminal, type Terminal } from "./terminal.ts";

/** Starts a node; `log` is for changing what is logged while it runs. */
type Runner<Options> = (
  options: Options,
  logger: Logger,
  log: LogControl,
  stopping: AbortSignal,
) => Promise<RunningNode>;

/** Loaded late: the consensus libraries they import read the preset once, at import. */
interface Runners {
  dev(): Promise<Runner<DevOptions>>;
  node(): Promise<Runner<NodeOptions>>;
  gateway(): Promise<Runner<GatewayStart>>;
}

export interface Surroundings {
  environment: Record<string, string | undefined>;
  workingDirectory: string;
  err(text: string): void;
  createLog: typeof createLogger;
  events: ProcessEvents;
  exitNow(code: number): void;
  endBy(signal: StopSignal): void;
  timers: Pick<Timers, "now" | "every">;
  /** Which permissions files and directories are made without. */
  setUmask(mask: number): void;
  runners: Runners;
  terminal: Terminal;
}

function processSurroundings(): Surroundings {
  return {
    environment: process.env,
    workingDirectory: process.cwd(),
    err: (text) => process.stderr.write(text),
    createLog: createLogger,
    events: process,
    exitNow: (code) => process.exit(code),
    endBy(signal) {
      // Without listeners the signal has its default effect. Windows has no SIGHUP that could be sent.
      process.removeAllListeners(signal);
      process.kill(process.pid, process.platform === "win32" ? "SIGKILL" : signal);
    },
    timers: SYSTEM_TIMERS,
    setUmask: (mask) => process.umask(mask),
    runners: {
      dev: async () => (await import("./start/dev.ts")).runDev,
      node: async () => (await import("./start/node.ts")).runNode,
      gateway: async () => (await import("./start/gateway.ts")).runGateway,
    },
    terminal: processTerminal(),
  };
}

interface Start {
  logging: LogOptions;
  servers: ServersAskedFor;
  start(log: LogControl, stopping: AbortSignal): Promise<RunningNode>;
}

/** The preset is chosen by what is started, and only then the code of the chain is loaded. */
function prepare(command: NodeCommandName, sources: FlagSources, { environment, runners }: Surroundings): Start {
  const { workingDirectory } = sources;
  if (command === "dev") {
    const values = resolveFlags(command, sources);
    return {
      logging: logOptions(values, workingDirectory),
      servers: values,
      async start(log, stopping) {
        const { readStoredDevChain } = await import("../node/storage/stored-database.ts");
        const dataDir = devDataDir(values, workingDirectory);
        const stored = values.reset ? null : await readStoredDevChain(dataDir, log.logger);
        const options = devOptions(values, workingDirectory, stored);
        environment.LODESTAR_PRESET = options.preset;
        return (await runners.dev())(options, log.logger, log, stopping);
      },
    };
  }
  if (command === "gateway") {
    const values = resolveFlags(command, sources);
    return {
      logging: logOptions(values, workingDirectory),
      servers: values,
      async start(log, stopping) {
        const options = gatewayOptions(values, workingDirectory, log.logger);
        return (await runners.gateway())({ ...options, environment }, log.logger, log, stopping);
      },
    };
  }
  const values = resolveFlags(command, sources);
  return {
    logging: logOptions(values, workingDirectory),
    servers: values,
    async start(log, stopping) {
      const options = nodeOptions(values, workingDirectory);
      environment.LODESTAR_PRESET = options.network.preset;
      return (await runners.node())(options, log.logger, log, stopping);
    },
  };
}

async function converse(sources: FlagSources, terminal: Terminal): Promise<number> {
  const { runConsole } = await import("./console/console.ts");
  return runConsole(sources, terminal);
}

async function tellMethods(words: readonly string[], sources: FlagSources, terminal: Terminal): Promise<number> {
  const flags = resolveFlags("methods", sources);
  const { describeMethods } = await import("./methods/methods.ts");
  await terminal.write(await describeMethods(words, flags));
  return EXIT_CODES.ok;
}

async function printCompletion(written: readonly string[], terminal: Terminal): Promise<number> {
  const shell = readShell(written);
  const { completionScript } = await import("./completion/completion.ts");
  await terminal.write(completionScript(shell));
  return EXIT_CODES.ok;
}

async function examineUpstreams(
  written: readonly string[],
  sources: FlagSources,
  surroundings: Surroundings,
): Promise<number> {
  const { runDoctor } = await import("./doctor/doctor.ts");
  return runDoctor(written, sources, surroundings);
}

/** Looks after a database. The code of chains is loaded for it once the database has said which preset its chain has. */
async function keepDatabase(
  written: readonly string[],
  sources: FlagSources,
  { environment, terminal }: Surroundings,
): Promise<number> {
  const operands = readDbOperands(written);
  const { dataDir, network } = resolveFlags("db", sources);
  if (dataDir === undefined) throw usageError("The data directory is missing: give --data-dir.");
  const { workingDirectory } = sources;
  const { runDb } = await import("./db/db.ts");
  const options = { ...operands, dataDir: resolve(workingDirectory, dataDir), network, workingDirectory, environment };
  return runDb(options, terminal);
}

type Run = Extract<CommandLine, { kind: "run" }>;

async function run({ command, operands = [], given }: Run, surroundings: Surroundings): Promise<number> {
  const { environment, workingDirectory, terminal } = surroundings;
  const sources = { given, environment, workingDirectory };
  if (command === "call") return callAsWritten(operands, sources, terminal);
  if (command === "console") return converse(sources, terminal);
  if (command === "methods") return tellMethods(operands, sources, terminal);
  if (command === "doctor") return examineUpstreams(operands, sources, surroundings);
  if (command === "completion") return printCompletion(operands, terminal);
  // What a node keeps is nobody else's business: files of its owner alone, in directories of its owner alone.
  surroundings.setUmask(0o077);
  if (command === "db") return keepDatabase(operands, sources, surroundings);
  const { logging, servers, start } = prepare(command, sources, surroundings);
  const log = createLog(logging, surroundings);
  for (const hint of idleFlags(sources, servers)) log.logger.warn(hint);
  const flushed: Pick<Surroundings, "exitNow" | "endBy"> = {
    exitNow(code) {
      log.flush();
      surroundings.exitNow(code);
    },
    endBy(signal) {
      log.flush();
      surroundings.endBy(signal);
    },
  };
  try {
    return await runUntilStopped((stopping) => start(log, stopping), {
      ...surroundings,
      ...flushed,
      logger: log.logger,
    });
  } catch (error) {
    // On a terminal the log stands beside standard error, which gets the same sentence.
    const isBesideLog = terminal.isInteractive && logging.logFormat === "text" && logging.logFile === undefined;
    const known = asStartupError(error);
    if (known && !isBesideLog) {
      log.logger.fatal("Fatal error, exiting", { error: known.message, exit_code: known.exitCode });
    }
    throw error;
  } finally {
    log.flush();
  }
}

function createLog({ logFormat, logLevel, logFile }: LogOptions, surroundings: Surroundings): LogControl {
  try {
    return surroundings.createLog({ format: logFormat, spec: logLevel, file: logFile });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw usageError(`The log file ${logFile?.path} cannot be written: ${reason}.`, error);
  }
}

/** Runs the program; the result is the exit code. */
export async function main(argv: readonly string[], surroundings = processSurroundings()): Promise<number> {
  const { terminal, err } = surroundings;
  try {
    const line = parseCommandLine(argv, VERSION);
    if (line.kind === "print") {
      if (line.wasAskedFor) {
        await terminal.write(line.text);
        return EXIT_CODES.ok;
      }
      err(line.text);
      return EXIT_CODES.usage;
    }
    return await run(line, surroundings);
  } catch (error) {
    const mendable = asStartupError(error);
    if (!mendable) throw error;
    err(`fanal: ${mendable.message}\n`);
    return mendable.exitCode;
  }
}
