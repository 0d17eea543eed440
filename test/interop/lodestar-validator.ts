import { LodestarProcess, type LodestarProcessOptions } from "./lodestar-process.ts";

interface LodestarValidatorOptions extends Omit<LodestarProcessOptions, "args"> {
  restUrl: string;
  /** First and last index of its validators, which have interop keys. */
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
