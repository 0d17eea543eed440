import { DEV_FLAGS } from "../cli/flags/flags.ts";
import { type DevOptions, devOptions } from "../cli/flags/options.ts";
import { resolveFlags } from "../cli/flags/resolve-flags.ts";
import { nearestName } from "../nearest-name.ts";
import type { DevChainOptions } from "./dev-chain.ts";

/** What a test wants where `fanal dev` has it otherwise. */
const DEFAULTS = { speed: 0, warmupEpochs: 0, logLevel: "WARN" } as const satisfies DevChainOptions;

type Given = [flag: string, texts: string[]];

/** Reads the options as the command line reads its flags, so that each has the same meaning and bounds. */
export function readOptions({ log, rpc, rest, forkAt, ...options }: DevChainOptions): DevOptions {
  const plain = Object.entries({ ...DEFAULTS, ...options }).filter(([, value]) => value !== undefined);
  const forks = Object.entries(forkAt ?? {}).map(([fork, epoch]) => `${fork}=${epoch}`);
  const given: Given[] = [...plain.map(flagOf), ...serving("rpc", rpc), ...serving("rest", rest)];
  if (forks.length > 0) given.push(["fork-at", forks]);
  const workingDirectory = process.cwd();
  return devOptions(
    resolveFlags("dev", { given: new Map(given), environment: {}, workingDirectory }),
    workingDirectory,
  );
}

function flagOf([key, value]: [key: string, value: unknown]): Given {
  const flags = DEV_FLAGS as Record<string, { name: string }>;
  if (Object.hasOwn(flags, key)) return [flags[key]!.name, [value].flat().map(String)];
  const nearest = nearestName(key, [...Object.keys(flags), "log"]);
  throw new Error(
    `There is no option "${key}" of a dev chain.${nearest === undefined ? "" : ` Did you mean "${nearest}"?`}`,
  );
}

function serving(server: "rpc" | "rest", port: number | undefined): Given[] {
  if (port === undefined) return [];
  return [
    [server, ["true"]],
    [`${server}-port`, [String(port)]],
  ];
}
