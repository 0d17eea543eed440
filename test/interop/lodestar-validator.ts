import { LodestarProcess, type LodestarProcessOptions } from "./lodestar-process.ts";

interface LodestarValidatorOptions extends Omit<LodestarProcessOptions, "args"> {
  restUrl: string;
  /** The indices of the first and the last of the validators that it signs for, whose keys everybody knows. */
  validators: readonly [first: number, last: number];
  /** The flags that describe the chain. */
  chain: readonly string[];
  graffiti?: string;
}

/** Lodestar's validator client. */
export function startLodestarValidator(options: LodestarValidatorOptions): LodestarProcess {
  const { restUrl, validators, chain, graffiti, directory, ...placed } = options;
  const [first, last] = validators;
  const args = [
    ["--network", "dev"],
    ["--beaconNodes", restUrl],
    ["--interopIndexes", `${first}..${last}`],
    ["--dataDir", directory],
    ["--suggestedFeeRecipient", "0x0000000000000000000000000000000000000001"],
    ["--logLevel", "info", "--logFile", "none"],
    graffiti === undefined ? [] : ["--graffiti", graffiti],
    chain,
  ].flat();
  return new LodestarProcess({ args: ["validator", ...args], directory, ...placed });
}
