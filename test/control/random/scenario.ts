import { expect } from "vitest";
import type { RandomChoices } from "../../support/random/random-choices.ts";
import type { CanonicalChain, ChainPosition } from "./canonical-chain.ts";
import type { EtherLedger } from "./ether-ledger.ts";
import type { Hex } from "./json.ts";
import type { SentTransactions } from "./sent-transactions.ts";
import type { StateOverrides } from "./state-overrides.ts";
import { CallError, type ForkSchedule, type TestedChain } from "./tested-chain.ts";

/** Errors that a call may have: invalid parameters, refusals, limits, no payload, and those of the EVM. */
const EXPECTED_CODES: readonly number[] = [-32602, -32000, -32001, -32002, -32003, -32004, -32005, 3];

/** A deployed contract, by what its code does. */
export interface Contract {
  address: Hex;
  code: string;
}

/** What a snapshot has to restore. */
export interface Snapshot {
  id: Hex;
  position: ChainPosition;
  overrides: StateOverrides;
  sent: SentTransactions;
  contracts: Contract[];
  replaced: Map<Hex, Hex>;
  /** Results of calls. */
  digest: Readonly<Record<string, unknown>>;
}

/** A chain with what is expected of it, for the actions. */
export interface Scenario {
  readonly choices: RandomChoices;
  readonly chain: TestedChain;
  readonly canonical: CanonicalChain;
  readonly ledger: EtherLedger;
  readonly forks: ForkSchedule;
  readonly validators: number;
  overrides: StateOverrides;
  sent: SentTransactions;
  /** Contracts that transactions have deployed or were to deploy. */
  contracts: Contract[];
  /** Original codes of system contracts with another code. */
  replaced: Map<Hex, Hex>;
  snapshots: Snapshot[];
  /** Validators that have been slashed or left. Bounds their number. */
  departed: number;
  /**
   * Last slot in which a restart may change the head, after branches with equal votes: votes that no block includes and
   * the proposer boost are not stored.
   */
  contestedUntil: number;
  /** True while some validators are offline. */
  hasOffline: boolean;
  /** Patterns of warnings that an action has caused. */
  readonly expectedComplaints: RegExp[];
}

/** Returns the result of a call, or its error, which must be one of the expected kinds. */
export async function attempt<Result = unknown>(
  { chain }: Pick<Scenario, "chain">,
  method: string,
  params: readonly unknown[] | object = [],
): Promise<{ result: Result; error?: undefined } | { result?: undefined; error: CallError }> {
  try {
    return { result: await chain.call<Result>(method, params) };
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    expect(EXPECTED_CODES, error.message).toContain(error.code);
    expect(error.message).not.toMatch(/\n\s+at |undefined|\[object /);
    return { error };
  }
}

/** Words of the outcome of a call for the list of steps. */
export const outcomeOf = ({ error }: { error?: CallError | undefined }): string =>
  error === undefined ? "" : ` refused: ${error.message.slice(0, 150)}`;

/** Slot of the clock. */
export async function clockSlot({ chain }: Pick<Scenario, "chain">): Promise<number> {
  return Number((await chain.call<{ slot: string }>("getChainTime")).slot);
}

/** Slots after which blocks include the votes of a new branch. */
const SLOTS_TO_SETTLE = 16;

/** Notes that branches were made. */
export async function contest(scenario: Scenario): Promise<void> {
  scenario.contestedUntil = (await clockSlot(scenario)) + SLOTS_TO_SETTLE;
}

export async function isContested(scenario: Scenario): Promise<boolean> {
  const slot = await clockSlot(scenario);
  // The head after an empty block has few votes, and loses to its payload without them.
  return slot <= Math.max(scenario.contestedUntil, scenario.canonical.lastEmptySlot + SLOTS_TO_SETTLE);
}

/** One kind of step. Returns what it did in a few words. */
export interface Action {
  name: string;
  weight: number;
  run(scenario: Scenario): Promise<string>;
}
