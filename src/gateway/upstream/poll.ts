import type { Timers } from "../../async/timers.ts";
import { type Askable, askForData } from "./ask.ts";
import type { Observation } from "./judge.ts";
import { integerOf, memberOf, rootOf } from "./read-json.ts";

const SHOWN_OF_VERSION = 100;

interface PollOptions {
  timers: Pick<Timers, "sleep">;
  timeoutMillis: number;
  signal?: AbortSignal;
  /** Whether to ask what it calls itself, too. */
  asksForVersion: boolean;
}

/** Asks an upstream how it is. Rejects with an `UpstreamError` when it does not tell even whether it is syncing. */
export async function poll(client: Askable, options: PollOptions): Promise<Observation> {
  const ask = (path: string) => askForData(client, path, options);
  const [syncing, head, finalized, version, genesis] = await Promise.allSettled([
    ask("/eth/v1/node/syncing").then(readSyncing),
    ask("/eth/v1/beacon/headers/head").then(readHead),
    ask("/eth/v1/beacon/states/head/finality_checkpoints").then(readFinalized),
    options.asksForVersion ? ask("/eth/v1/node/version").then(readVersion) : undefined,
    // Whoever is behind an address may be replaced by another at any time.
    ask("/eth/v1/beacon/genesis").then(readGenesis),
  ]);
  if (syncing.status === "rejected") throw syncing.reason;
  return {
    ...syncing.value,
    head: known(head),
    finalized: known(finalized),
    version: known(version),
    ...known(genesis),
    shortcoming: head.status === "rejected" ? `It does not tell its head: ${messageOf(head.reason)}` : undefined,
  };
}

function known<T>(result: PromiseSettledResult<T>): T | undefined {
  return result.status === "fulfilled" ? result.value : undefined;
}

function readSyncing(data: unknown): Pick<Observation, "syncDistance" | "isOptimistic" | "isExecutionOffline"> {
  // Some count the empty slots after the head, too, when there is nothing to sync.
  const distance = integerOf(data, "sync_distance");
  return {
    syncDistance: memberOf(data, "is_syncing") === false ? 0 : distance,
    isOptimistic: memberOf(data, "is_optimistic") === true,
    isExecutionOffline: memberOf(data, "el_offline") === true,
  };
}

export function readHead(data: unknown): NonNullable<Observation["head"]> {
  const message = memberOf(memberOf(data, "header"), "message");
  return { slot: integerOf(message, "slot"), root: rootOf(data, "root") };
}

function readFinalized(data: unknown): NonNullable<Observation["finalized"]> {
  const finalized = memberOf(data, "finalized");
  return { epoch: integerOf(finalized, "epoch"), root: rootOf(finalized, "root") };
}

function readGenesis(data: unknown): Pick<Observation, "genesisValidatorsRoot" | "genesisTime"> {
  return {
    genesisValidatorsRoot: rootOf(data, "genesis_validators_root"),
    genesisTime: integerOf(data, "genesis_time"),
  };
}

export function readVersion(data: unknown): string {
  return String(memberOf(data, "version"))
    .replace(/[^ -~]/g, "")
    .slice(0, SHOWN_OF_VERSION);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
