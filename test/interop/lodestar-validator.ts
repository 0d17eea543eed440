import { LodestarProcess, type LodestarProcessOptions } from "./lodestar-process.ts";

interface LodestarValidatorOptions extends Omit<LodestarProcessOptions, "args"> {
  restUrl: string;
  /** First and last index of its validators, which have interop keys, or the flags that give it other keys. */
  validators: readonly [first: number, last: number] | readonly string[];
  /** The flags that describe the chain. */
  chain: readonly string[];
  graffiti?: string;
}

/** Lodestar's validator client. */
export function startLodestarValidator(options: LodestarValidatorOptions): LodestarProcess {
  const { restUrl, validators, chain, graffiti, directory, ...placed } = options;
  const keyFlags = typeof validators[0] === "number" ? ["--interopIndexes", validators.join("..")] : validators;
  const args = [
    ["--network", "dev"],
    ["--beaconNodes", restUrl],
    keyFlags,
    ["--dataDir", directory],
    ["--suggestedFeeRecipient", "0x0000000000000000000000000000000000000001"],
    ["--logLevel", "info", "--logFile", "none"],
    graffiti === undefined ? [] : ["--graffiti", graffiti],
    chain,
  ]
    .flat()
    .map(String);
  return new LodestarProcess({ args: ["validator", ...args], directory, ...placed });
}
