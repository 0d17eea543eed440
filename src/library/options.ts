import { usageError } from "../cli/exit.ts";
import { ANVIL_FLAGS } from "../cli/flags/dev/anvil-flags.ts";
import { DEV_FLAGS } from "../cli/flags/dev/dev-flags.ts";
import { type DevCommandSettings, devSettings } from "../cli/flags/dev/dev-settings.ts";
import type { Flag } from "../cli/flags/flag.ts";
import { resolveFlags } from "../cli/flags/resolve-flags.ts";
import type { DevIdentity } from "../dev/identity.ts";
import { nearestName } from "../errors/nearest-name.ts";
import type { DevChainOptions } from "./dev-chain.ts";
import { StartupError } from "./startup-error.ts";

/** Defaults for tests where they differ from `fanal dev`. */
const DEFAULTS = { speed: 0, warmupEpochs: 0, logLevel: "WARN" } as const satisfies DevChainOptions;

type FlagTexts = [flag: string, texts: string[]];

/** Flags of `fanal dev` by option name. */
const FLAGS: ReadonlyMap<string, Flag<unknown>> = new Map(
  Object.values<Flag<unknown>>(DEV_FLAGS).map((flag) => [camelCase(flag.name), flag]),
);

/** Flags replaced by another option. */
const REPLACED_BY: ReadonlyMap<string, keyof DevChainOptions> = new Map([
  ["auto", "speed"],
  ["rpcPort", "rpc"],
  ["restPort", "rest"],
  ["ethRpcPort", "ethRpc"],
  ["logFile", "log"],
  ["logFileSize", "log"],
  ["logFileCount", "log"],
]);

/** Returns the flags that are also options. */
export function optionFlags(): [option: string, flag: Flag<unknown>][] {
  return [...FLAGS].filter(([option]) => !REPLACED_BY.has(option));
}

/**
 * Parses options with the flags' parsers, so both have the same meaning and bounds. Omitted options default to those of
 * the stored chain.
 */
export function readOptions(chainOptions: DevChainOptions, stored: DevIdentity | null): DevCommandSettings {
  const { log, rpc, rest, ethRpc, forkAt, config, ...options } = chainOptions;
  const plainOptions = Object.entries({ ...DEFAULTS, ...options }).filter(([, value]) => value !== undefined);
  const flags: FlagTexts[] = [
    ...plainOptions.map(flagOf),
    ...serverFlags("rpc", rpc),
    ...serverFlags("rest", rest),
    ...(ethRpc === undefined ? [["eth-rpc", ["false"]] as FlagTexts] : serverFlags("eth-rpc", ethRpc)),
    ...pairs("fork-at", forkAt),
    ...pairs("config", config),
  ];
  const workingDirectory = process.cwd();
  const values = resolveFlags("dev", { flagTexts: new Map(flags), environment: {}, workingDirectory });
  return devSettings(values, workingDirectory, stored);
}

/** Returns the option for a flag, or undefined for a Node.js flag. */
export function optionOf(flagName: string): string | undefined {
  const option = camelCase(flagName.replace(/^no-/, ""));
  return REPLACED_BY.get(option) ?? (FLAGS.has(option) ? option : undefined);
}

function flagOf([key, value]: [key: string, value: unknown]): FlagTexts {
  const other = REPLACED_BY.get(key);
  if (other !== undefined) throw unknownOption(key, `Use "${other}".`);
  const flag = FLAGS.get(key);
  if (flag !== undefined) return [flag.name, [value].flat().map(String)];
  const anvilNote = ANVIL_FLAGS.get(kebabCase(key).replace(/^no-/, ""));
  // The message names flags, which are converted to option names like those in other command line errors.
  if (anvilNote !== undefined) throw usageError(`Unknown option "${key}" of a dev chain. Anvil's ${key} ${anvilNote}.`);
  const nearest = nearestName(key, [...FLAGS.keys(), "log"]);
  throw unknownOption(key, nearest === undefined ? "" : `Did you mean "${nearest}"?`);
}

function unknownOption(key: string, advice: string): StartupError {
  return new StartupError("invalid-option", `Unknown option "${key}" of a dev chain. ${advice}`.trimEnd());
}

/** Formats pairs as flag values. Also accepts strings in the syntax of the command line. */
function pairs(
  flag: string,
  values: Readonly<Record<string, number | bigint | string | undefined>> | string | readonly string[] = {},
): FlagTexts[] {
  const isFlagText = typeof values === "string" || Array.isArray(values);
  const texts = isFlagText ? [values].flat() : Object.entries(values).map(([name, value]) => `${name}=${value}`);
  return texts.length === 0 ? [] : [[flag, texts]];
}

function camelCase(name: string): string {
  return name.replace(/-[a-z]/g, ([, letter]) => letter!.toUpperCase());
}

function kebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function serverFlags(server: "rpc" | "rest" | "eth-rpc", port: number | undefined): FlagTexts[] {
  if (port === undefined) return [];
  return [
    [server, ["true"]],
    [`${server}-port`, [String(port)]],
  ];
}
