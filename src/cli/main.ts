import { resolve } from "node:path";
import { SYSTEM_TIMERS, type Timers } from "../async/timers.ts";
import type { Logger } from "../log/logger.ts";
import { createLogger, type LogControl } from "../log/pino-logger.ts";
import { preloadEvm } from "../node/execution/preload-evm.ts";
import { VERSION } from "../runtime/version.ts";
import { runCallCommand, START_SECONDS } from "./call/command.ts";
import { readShell } from "./completion/shells.ts";
import { readDbOperands } from "./db/actions.ts";
import { EXIT_CODES, usageError } from "./exit.ts";
import { type CommandLine, parseCommandLine } from "./flags/command-line.ts";
import type { NodeCommandName } from "./flags/commands.ts";
import { ConfigProblems } from "./flags/config-problems.ts";
import { devKeysSettings } from "./flags/dev/dev-keys-settings.ts";
import { type DevCommandSettings, devDataDir, devSettings } from "./flags/dev/dev-settings.ts";
import { type LogSettings, logSettings } from "./flags/log-flags.ts";
import { type NodeCommandSettings, nodeSettings } from "./flags/node/node-settings.ts";
import { type FlagSources, readFlags, resolveFlags } from "./flags/resolve-flags.ts";
import { type EnabledServers, unusedFlagWarnings } from "./flags/server/unused-flags.ts";
import { type GatewayAction, readGatewayOperands } from "./gateway/operands.ts";
import { readKeysOperands } from "./keys/operands.ts";
import { type ProcessEvents, type RunningNode, runUntilStopped, type StopSignal } from "./run.ts";
import type { GatewayStart } from "./start/gateway.ts";
import { asStartupError } from "./start/start-errors.ts";
import { processTerminal, type Terminal } from "./terminal.ts";

/** Starts a node. `log` changes the log level at runtime. */
type Runner<Settings> = (
  settings: Settings,
  logger: Logger,
  log: LogControl,
  stopping: AbortSignal,
) => Promise<RunningNode>;

/** Lazy imports, because the consensus libraries read the preset once, on import. */
interface Runners {
  dev(settings: DevCommandSettings): Promise<Runner<DevCommandSettings>>;
  node(): Promise<Runner<NodeCommandSettings>>;
  gateway(): Promise<Runner<GatewayStart>>;
}

/** Process-level dependencies of the command line, replaced in tests. */
export interface CliContext {
  environment: Record<string, string | undefined>;
  workingDirectory: string;
  err(text: string): void;
  createLog: typeof createLogger;
  events: ProcessEvents;
  exitNow(code: number): void;
  endBy(signal: StopSignal): void;
  timers: Pick<Timers, "now" | "every">;
  setUmask(mask: number): void;
  runners: Runners;
  terminal: Terminal;
}

function processContext(): CliContext {
  return {
    environment: process.env,
    workingDirectory: process.cwd(),
    err: (text) => process.stderr.write(text),
    createLog: createLogger,
    events: process,
    exitNow: (code) => process.exit(code),
    endBy(signal) {
      // Without listeners, the signal has its default effect. Windows cannot send SIGHUP.
      process.removeAllListeners(signal);
      process.kill(process.pid, process.platform === "win32" ? "SIGKILL" : signal);
    },
    timers: SYSTEM_TIMERS,
    setUmask: (mask) => process.umask(mask),
    runners: {
      dev: async ({ evm }) => {
        if (evm) preloadEvm();
        return (await import("./start/dev.ts")).runDev;
      },
      node: async () => (await import("./start/node.ts")).runNode,
      gateway: async () => (await import("./start/gateway.ts")).runGateway,
    },
    terminal: processTerminal(),
  };
}

interface Start {
  logging: LogSettings;
  servers: EnabledServers;
  /** True if SIGHUP reloads the config file. Otherwise, SIGHUP stops the node, as does closing its terminal. */
  reloadsOnHangup: boolean;
  start(log: LogControl, stopping: AbortSignal): Promise<RunningNode>;
}

/** Resolves a command's settings. `start` sets the preset before loading the chain code. */
function prepare(command: NodeCommandName, sources: FlagSources, context: CliContext): Start {
  const { environment, runners, terminal } = context;
  const { workingDirectory } = sources;
  if (command === "dev") {
    const values = resolveFlags(command, sources);
    return {
      logging: logSettings(values, workingDirectory),
      servers: values,
      reloadsOnHangup: false,
      async start(log, stopping) {
        const { readStoredDevChain } = await import("../node/storage/stored-database.ts");
        const dataDir = devDataDir(values, workingDirectory);
        const stored = values.reset ? null : await readStoredDevChain(dataDir, log.logger);
        const settings = devSettings(values, workingDirectory, stored);
        environment.LODESTAR_PRESET = settings.preset;
        return (await runners.dev(settings))(settings, log.logger, log, stopping);
      },
    };
  }
  if (command === "gateway") {
    // These problems are reported along with those of the other settings when the gateway starts.
    const values = readFlags(command, sources, new ConfigProblems());
    return {
      logging: logSettings(values, workingDirectory),
      servers: values,
      reloadsOnHangup: values.configFile !== undefined && !terminal.isInteractive,
      async start(log, stopping) {
        const { configFile } = values;
        const { logger } = log;
        const { loadGatewaySettings } = await import("./gateway/check.ts");
        const start: GatewayStart = {
          ...(await loadGatewaySettings(sources, { logger, isPresetUnknown: true })),
          environment,
          configFile: configFile === undefined ? undefined : resolve(workingDirectory, configFile),
          readSettings: () => loadGatewaySettings(sources, { logger }),
        };
        return (await runners.gateway())(start, log.logger, log, stopping);
      },
    };
  }
  const values = resolveFlags(command, sources);
  return {
    logging: logSettings(values, workingDirectory),
    servers: values,
    reloadsOnHangup: false,
    async start(log, stopping) {
      const settings = nodeSettings(values, workingDirectory);
      environment.LODESTAR_PRESET = settings.network.preset;
      return (await runners.node())(settings, log.logger, log, stopping);
    },
  };
}

async function runConsoleCommand(sources: FlagSources, terminal: Terminal): Promise<number> {
  const { runConsole } = await import("./console/console.ts");
  return runConsole(sources, terminal);
}

async function runMethodsCommand(words: readonly string[], sources: FlagSources, terminal: Terminal): Promise<number> {
  const flags = resolveFlags("methods", sources);
  const { describeMethods } = await import("./methods/methods.ts");
  await terminal.write(await describeMethods(words, flags));
  return EXIT_CODES.ok;
}

async function runCompletionCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const shell = readShell(args);
  const { COMPLETION_SCRIPTS } = await import("./completion/scripts.ts");
  await terminal.write(COMPLETION_SCRIPTS[shell]);
  return EXIT_CODES.ok;
}

async function runGatewayAction(operands: GatewayAction, sources: FlagSources, terminal: Terminal): Promise<number> {
  if (operands.action === "key") {
    const { createClientKey } = await import("./gateway/key.ts");
    await terminal.write(createClientKey());
  } else {
    const { checkGatewayFile } = await import("./gateway/check.ts");
    await terminal.write(await checkGatewayFile(operands.file, sources));
  }
  return EXIT_CODES.ok;
}

async function runDoctorCommand(args: readonly string[], sources: FlagSources, context: CliContext): Promise<number> {
  const { runDoctor } = await import("./doctor/doctor.ts");
  return runDoctor(args, sources, context);
}

/** Runs `fanal db`. The chain code is loaded once the preset of the stored chain is known. */
async function runDbCommand(
  args: readonly string[],
  sources: FlagSources,
  { environment, terminal }: CliContext,
): Promise<number> {
  const operands = readDbOperands(args);
  const { dataDir, network } = resolveFlags("db", sources);
  if (dataDir === undefined) throw usageError("Missing data directory. Give --data-dir.");
  const { workingDirectory } = sources;
  const { runDb } = await import("./db/db.ts");
  const options = { ...operands, dataDir: resolve(workingDirectory, dataDir), network, workingDirectory, environment };
  return runDb(options, terminal);
}

/** Runs `fanal dev keys`. The chain code is loaded once the preset is known. */
async function runKeysCommand(
  args: readonly string[],
  sources: FlagSources,
  { environment, terminal }: CliContext,
): Promise<number> {
  const directory = resolve(sources.workingDirectory, readKeysOperands(args));
  const values = resolveFlags("dev keys", sources);
  const { readStoredDevChain } = await import("../node/storage/stored-database.ts");
  const { workingDirectory } = sources;
  const { logger } = createLogger({ format: "text", spec: "ERROR", destination: { write: () => {} } });
  const stored = await readStoredDevChain(devDataDir(values, workingDirectory), logger);
  const settings = devKeysSettings(values, workingDirectory, stored);
  environment.LODESTAR_PRESET = settings.preset;
  const { runKeysExport } = await import("./keys/keys.ts");
  return runKeysExport(directory, settings, stored, terminal);
}

type Run = Extract<CommandLine, { kind: "run" }>;

async function run({ command, operands = [], flagTexts }: Run, context: CliContext): Promise<number> {
  const { environment, workingDirectory, terminal } = context;
  const sources = { flagTexts, environment, workingDirectory };
  if (command === "call") return runCallCommand(operands, sources, terminal, { waitSeconds: START_SECONDS });
  if (command === "console") return runConsoleCommand(sources, terminal);
  if (command === "methods") return runMethodsCommand(operands, sources, terminal);
  if (command === "doctor") return runDoctorCommand(operands, sources, context);
  if (command === "completion") return runCompletionCommand(operands, terminal);
  if (command === "gateway") {
    const action = readGatewayOperands(operands);
    if (action) return runGatewayAction(action, sources, terminal);
  }
  // Files and directories are accessible only to their owner.
  context.setUmask(0o077);
  if (command === "db") return runDbCommand(operands, sources, context);
  if (command === "dev keys") return runKeysCommand(operands, sources, context);
  const { logging, servers, reloadsOnHangup, start } = prepare(command, sources, context);
  const log = createLog(logging, context);
  for (const hint of unusedFlagWarnings(sources, servers)) log.logger.warn(hint);
  const flushed: Pick<CliContext, "exitNow" | "endBy"> = {
    exitNow(code) {
      log.flush();
      context.exitNow(code);
    },
    endBy(signal) {
      log.flush();
      context.endBy(signal);
    },
  };
  try {
    return await runUntilStopped((stopping) => start(log, stopping), {
      ...context,
      ...flushed,
      logger: log.logger,
      reloadsOnHangup,
    });
  } catch (error) {
    // On a terminal, standard error appears next to the log, so the message is not repeated there.
    const isBesideLog = terminal.isInteractive && logging.format === "text" && logging.file === undefined;
    const known = asStartupError(error);
    if (known && !isBesideLog) {
      log.logger.fatal("Fatal error, exiting", { error: known.message, exit_code: known.exitCode });
    }
    throw error;
  } finally {
    log.flush();
  }
}

function createLog({ format, spec, file }: LogSettings, context: CliContext): LogControl {
  try {
    return context.createLog({ format, spec, file });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw usageError(`The log file ${file?.path} cannot be written: ${reason}.`, error);
  }
}

/** Runs the program and returns the exit code. */
export async function main(argv: readonly string[], context = processContext()): Promise<number> {
  const { terminal, err } = context;
  try {
    if (argv[0] === "__complete") {
      const { complete } = await import("./completion/complete.ts");
      await terminal.write(await complete(argv.slice(1)));
      return EXIT_CODES.ok;
    }
    const line = parseCommandLine(argv, VERSION);
    if (line.kind === "print") {
      if (line.isRequested) {
        await terminal.write(line.text);
        return EXIT_CODES.ok;
      }
      err(line.text);
      return EXIT_CODES.usage;
    }
    return await run(line, context);
  } catch (error) {
    const startupError = asStartupError(error);
    if (!startupError) throw error;
    err(`fanal: ${startupError.message}\n`);
    return startupError.exitCode;
  }
}
