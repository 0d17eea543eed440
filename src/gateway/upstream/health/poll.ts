import type { Timers } from "../../../async/timers.ts";
import { fetchData, type RequestClient } from "../client/fetch.ts";
import { integerOf, memberOf, rootOf } from "../client/json-fields.ts";
import type { Observation } from "./assess-health.ts";

const MAX_VERSION_LENGTH = 100;

interface PollOptions {
  timers: Pick<Timers, "sleep">;
  timeoutMillis: number;
  signal?: AbortSignal;
  /** Whether to request the version too. */
  includesVersion: boolean;
}

/**
 * Polls the sync status, head, finality and genesis of an upstream. Rejects with an `UpstreamError` if the sync status
 * is unavailable.
 */
export async function poll(client: RequestClient, options: PollOptions): Promise<Observation> {
  const ask = (path: string) => fetchData(client, path, options);
  const [syncing, head, finalized, version, genesis] = await Promise.allSettled([
    ask("/eth/v1/node/syncing").then(readSyncing),
    ask("/eth/v1/beacon/headers/head").then(readHead),
    ask("/eth/v1/beacon/states/head/finality_checkpoints").then(readFinalized),
    options.includesVersion ? ask("/eth/v1/node/version").then(readVersion) : undefined,
    // The node behind an address may be replaced at any time.
    ask("/eth/v1/beacon/genesis").then(readGenesis),
  ]);
  if (syncing.status === "rejected") throw syncing.reason;
  return {
    ...syncing.value,
    head: settledValue(head),
    finalized: settledValue(finalized),
    version: settledValue(version),
    ...settledValue(genesis),
    shortcoming: head.status === "rejected" ? `It does not report its head: ${messageOf(head.reason)}` : undefined,
  };
}

function settledValue<T>(result: PromiseSettledResult<T>): T | undefined {
  return result.status === "fulfilled" ? result.value : undefined;
}

function readSyncing(data: unknown): Pick<Observation, "syncDistance" | "isOptimistic" | "isExecutionOffline"> {
  // Some clients count empty slots after the head even if they are not syncing.
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
    .slice(0, MAX_VERSION_LENGTH);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
