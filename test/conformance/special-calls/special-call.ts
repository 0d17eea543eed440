import { ForkName } from "@lodestar/params";
import type { Params } from "../../../src/server/method-table.ts";
import type { ExampleDevChain, ExampleFork } from "../../support/api/example-chain.ts";

/** A well-formed call that is out of range or has an unknown reference, and its expected outcome. */
export type SpecialCall = {
  what: string;
  params(chain: ExampleDevChain): Params | Promise<Params>;
  /** The fork to which it applies; by default both. */
  only?: ExampleFork;
} & ({ code: number } | { result: unknown });

/** A signed object in JSON. */
export interface SignedJson {
  message: Record<string, unknown>;
  signature: string;
}

export const INVALID = -32602;
export const NOT_FOUND = -32001;
export const REJECTED = -32003;
export const UNSUPPORTED = -32004;

export const ROOT = `0x${"11".repeat(32)}`;
export const PUBKEY = `0x${"22".repeat(48)}`;
export const LAST_UINT64 = "18446744073709551615";
/** The last epoch whose slots are uint64, in the minimal preset. */
export const LAST_EPOCH = "2305843009213693951";

export const fails = (what: string, code: number, params: SpecialCall["params"], only?: ExampleFork): SpecialCall => ({
  what,
  code,
  params,
  ...(only ? { only } : {}),
});
export const answers = (what: string, result: unknown, params: SpecialCall["params"]): SpecialCall => ({
  what,
  result,
  params,
});

/** A list that is a single parameter may be empty. */
export const nothing = (what: string): SpecialCall => ({ ...answers(what, true, () => [[]]), only: ForkName.fulu });

/** Ids of missing states or blocks, followed by the method's other parameters. */
export const absent = (...others: unknown[]): SpecialCall[] => [
  fails("an unknown root", NOT_FOUND, () => [ROOT, ...others]),
  fails("a slot that has not come", NOT_FOUND, (chain) => [chain.slot + 1, ...others]),
  fails("the last of all slots", NOT_FOUND, () => [LAST_UINT64, ...others]),
];
export const absentState = (...others: unknown[]): SpecialCall[] => [
  ...absent(...others),
  fails("the root of a block", NOT_FOUND, (chain) => [chain.chain.head.root, ...others]),
];
export const absentBlockWith = (...others: unknown[]): SpecialCall[] => [
  ...absent(...others),
  fails("a slot without a block", NOT_FOUND, (chain) => [chain.slot, ...others]),
  fails("a tag of states only", INVALID, () => ["justified", ...others]),
];
export const absentBlock = absentBlockWith();
