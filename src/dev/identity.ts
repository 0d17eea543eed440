import type { DevDeposits, ExecutionChain, RequestedDeposits, StoredConfig } from "./chain-config.ts";
import type { ScheduledFork } from "./forks.ts";
import {
  balancesText,
  type GenesisParameters,
  keySourceText,
  overridesText,
  withdrawalsText,
} from "./genesis-parameters.ts";

/** What a dev chain was created with. It cannot change while the chain lives. */
export interface DevIdentity extends GenesisParameters {
  kind: "dev";
  preset: string;
  validators: number;
  forks: readonly ScheduledFork[];
  slotSeconds: number;
  /** Left out by a chain without a deposit contract. */
  deposits?: DevDeposits;
  /** Left out by chains of earlier versions. A start may want another number of them. */
  warmupEpochs?: number;
  genesisTime: number;
  genesisValidatorsRoot: string;
  /** Left out by a chain with the built-in dev execution engine. */
  execution?: ExecutionChain;
  /** The whole configuration, since another version of the program may have other defaults; left out by chains of earlier versions. */
  config?: StoredConfig;
}

export interface DevParameters
  extends GenesisParameters,
    Pick<DevIdentity, "preset" | "validators" | "forks" | "slotSeconds"> {
  /** Left out by a chain without a deposit contract. */
  deposits?: RequestedDeposits;
  /** Left out where any will do. */
  genesisTime?: number;
  /** Left out where the built-in dev execution engine makes the payloads. */
  execution?: unknown;
}

/** The database holds another chain than the one that was asked for. */
export class OtherChainError extends Error {
  /** What it holds, as a part of a sentence. */
  readonly held: string;
  readonly isDevChain: boolean;

  constructor(held: string, { isDevChain }: { isDevChain: boolean }) {
    super(`The database holds ${held}.`);
    this.name = "OtherChainError";
    this.held = held;
    this.isDevChain = isDevChain;
  }
}

const READABLE_PARAMETERS: Record<string, (parameters: DevParameters) => string | undefined> = {
  "the preset": ({ preset }) => preset,
  "the number of validators": ({ validators }) => String(validators),
  "the fork schedule": ({ forks }) => forks.map(({ fork, epoch }) => `${fork}=${epoch}`).join(" "),
  "the slot time": ({ slotSeconds }) => `${slotSeconds} s`,
  "the genesis time": ({ genesisTime }) => genesisTime?.toString(),
  "the maker of payloads": ({ execution }) => (execution ? "an execution client (--el)" : "the built-in dev engine"),
  "the deposit contract": ({ deposits }) => deposits?.contract ?? "none",
  "the chain of the deposit contract": ({ deposits }) => (deposits ? deposits.chainId?.toString() : "none"),
  "the follow distance": ({ deposits }) => String(deposits?.followDistance ?? "none"),
  "the source of keys": ({ keys }) => keySourceText(keys),
  "the set of withdrawal credentials": ({ withdrawals }) => withdrawalsText(withdrawals),
  "the set of balances": ({ balances }) => balancesText(balances),
  "the configuration": ({ configOverrides }) => overridesText(configOverrides),
};

export function requireDevChain(stored: unknown): asserts stored is DevIdentity {
  if (!isDevIdentity(stored))
    throw new OtherChainError("the chain of a network, not a dev chain", { isDevChain: false });
}

export function requireSameChain(stored: unknown, wanted: DevParameters): DevIdentity {
  requireDevChain(stored);
  const differences = [];
  for (const [name, read] of Object.entries(READABLE_PARAMETERS)) {
    const [there, here] = [read(stored), read(wanted)];
    if (here !== undefined && there !== here) differences.push(`${name} is ${there} there and ${here} now`);
  }
  if (differences.length === 0) return stored;
  throw new OtherChainError(`a dev chain with other parameters: ${differences.join(", ")}`, { isDevChain: true });
}

/** Compares the constants that both know: versions of the program differ in what they make chains with. */
export function requireSameConfig(stored: StoredConfig = {}, own: StoredConfig = {}): void {
  for (const [name, value] of Object.entries(stored)) {
    const [there, here] = [value, own[name] ?? value].map((each) => JSON.stringify(each));
    if (there === here) continue;
    throw new OtherChainError(`a dev chain whose ${name} is ${there}, where it is ${here} here`, { isDevChain: true });
  }
}

export function isDevIdentity(identity: unknown): identity is DevIdentity {
  return typeof identity === "object" && identity !== null && "kind" in identity && identity.kind === "dev";
}
