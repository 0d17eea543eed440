import type { DepositContract, DepositContractOptions, ExecutionChain, StoredConfig } from "./chain-config.ts";
import type { ScheduledFork } from "./forks.ts";
import {
  balancesText,
  buildersText,
  type GenesisParameters,
  keySourceText,
  overridesText,
  withdrawalsText,
} from "./genesis-parameters.ts";

/** Immutable parameters of a dev chain, stored in its database. */
export interface DevIdentity extends GenesisParameters {
  kind: "dev";
  preset: string;
  validators: number;
  forks: readonly ScheduledFork[];
  slotSeconds: number;
  /** Absent if there is no deposit contract. */
  deposits?: DepositContract;
  /** Absent for chains created by earlier versions. Not compared, since a later start may use a different value. */
  warmupEpochs?: number;
  genesisTime: number;
  genesisValidatorsRoot: string;
  /** Absent if there is no execution client. */
  execution?: ExecutionChain;
  /** Absent if there is no EVM. */
  evm?: ExecutionChain;
  /**
   * Complete configuration, since defaults may differ between versions. Absent for chains created by earlier versions.
   */
  config?: StoredConfig;
}

/** Parameters requested at startup, which are compared with the stored identity. */
export interface DevParameters
  extends GenesisParameters,
    Pick<DevIdentity, "preset" | "validators" | "forks" | "slotSeconds"> {
  /** Absent if there is no deposit contract. */
  deposits?: DepositContractOptions;
  /** Absent if any genesis time is acceptable. */
  genesisTime?: number;
  /** Absent if there is no execution client. */
  execution?: unknown;
  /** Omitted for a chain without an EVM. */
  evm?: Pick<ExecutionChain, "chainId">;
}

/** Thrown if the database does not hold the requested chain. */
export class ChainMismatchError extends Error {
  /** Describes the stored chain, as the object of "holds". */
  readonly storedChain: string;
  readonly isDevChain: boolean;

  constructor(storedChain: string, { isDevChain }: { isDevChain: boolean }) {
    super(`The database holds ${storedChain}.`);
    this.name = "ChainMismatchError";
    this.storedChain = storedChain;
    this.isDevChain = isDevChain;
  }
}

const READABLE_PARAMETERS: Record<string, (parameters: DevParameters) => string | undefined> = {
  "the preset": ({ preset }) => preset,
  "the number of validators": ({ validators }) => String(validators),
  "the fork schedule": ({ forks }) => forks.map(({ fork, epoch }) => `${fork}=${epoch}`).join(" "),
  "the slot time": ({ slotSeconds }) => `${slotSeconds} s`,
  "the genesis time": ({ genesisTime }) => genesisTime?.toString(),
  "the payload builder": ({ execution, evm }) =>
    execution ? "an execution client (--el)" : evm ? "the EVM (--evm)" : "the built-in dev engine (--no-evm)",
  "the chain id": ({ evm }) => evm?.chainId.toString(),
  "the deposit contract": ({ deposits }) => deposits?.contract ?? "none",
  "the deposit chain id": ({ deposits }) => (deposits ? deposits.chainId?.toString() : "none"),
  "the follow distance": ({ deposits }) => String(deposits?.followDistance ?? "none"),
  "the key source": ({ keys }) => keySourceText(keys),
  "the withdrawal credentials setting": ({ withdrawals }) => withdrawalsText(withdrawals),
  "the balance setting": ({ balances }) => balancesText(balances),
  "the builders setting": ({ builders }) => buildersText(builders),
  "the configuration": ({ configOverrides }) => overridesText(configOverrides),
};

export function requireDevChain(stored: unknown): asserts stored is DevIdentity {
  if (!isDevIdentity(stored))
    throw new ChainMismatchError("the chain of a network, not a dev chain", { isDevChain: false });
}

/**
 * Compares the stored identity with the requested parameters. Throws a `ChainMismatchError` that lists all differences.
 */
export function requireSameChain(stored: unknown, requested: DevParameters): DevIdentity {
  requireDevChain(stored);
  const differences = [];
  for (const [name, read] of Object.entries(READABLE_PARAMETERS)) {
    const [storedValue, requestedValue] = [read(stored), read(requested)];
    if (requestedValue !== undefined && storedValue !== requestedValue)
      differences.push(`${name} is ${storedValue} (requested: ${requestedValue})`);
  }
  if (differences.length === 0) return stored;
  throw new ChainMismatchError(`a dev chain with other parameters: ${differences.join(", ")}`, { isDevChain: true });
}

/** Compares the constants present in both configurations. The set of constants differs between versions. */
export function requireSameConfig(stored: StoredConfig = {}, expected: StoredConfig = {}): void {
  for (const [name, value] of Object.entries(stored)) {
    const [storedValue, expectedValue] = [value, expected[name] ?? value].map((each) => JSON.stringify(each));
    if (storedValue === expectedValue) continue;
    throw new ChainMismatchError(`a dev chain with ${name} ${storedValue} instead of ${expectedValue}`, {
      isDevChain: true,
    });
  }
}

export function isDevIdentity(identity: unknown): identity is DevIdentity {
  return typeof identity === "object" && identity !== null && "kind" in identity && identity.kind === "dev";
}
