import type { ChainForkConfig } from "@lodestar/config";
import type { ForkPostBellatrix } from "@lodestar/params";
import { EngineUnavailableError } from "../engine.ts";

type ForkMethods = Record<"newPayload" | "forkchoiceUpdated" | "getPayload", string>;

export const EXCHANGE_CAPABILITIES = "engine_exchangeCapabilities";
export const GET_CLIENT_VERSION = "engine_getClientVersionV1";
export const GET_BLOBS = "engine_getBlobsV1";
export const GET_BLOBS_WITH_CELL_PROOFS = "engine_getBlobsV2";
/** What a client that follows the chain and builds blocks may do without. */
export const OPTIONAL_METHODS: readonly string[] = [GET_CLIENT_VERSION, GET_BLOBS, GET_BLOBS_WITH_CELL_PROOFS];

/** The versions that the Engine API prescribes by the time of a payload. */
const METHODS: Partial<Record<ForkPostBellatrix, ForkMethods>> = {
  bellatrix: versions(1, 1, 1),
  capella: versions(2, 2, 2),
  deneb: versions(3, 3, 3),
  electra: versions(4, 3, 4),
  fulu: versions(4, 3, 5),
};

function versions(newPayload: number, forkchoiceUpdated: number, getPayload: number): ForkMethods {
  return {
    newPayload: `engine_newPayloadV${newPayload}`,
    forkchoiceUpdated: `engine_forkchoiceUpdatedV${forkchoiceUpdated}`,
    getPayload: `engine_getPayloadV${getPayload}`,
  };
}

export function methodsOf(fork: ForkPostBellatrix): ForkMethods {
  const methods = METHODS[fork];
  if (methods) return methods;
  throw new EngineUnavailableError(
    `Execution clients cannot be asked about ${fork}: fulu is the last fork of which it is known how.`,
  );
}

/** All that this node may call. */
export const CAPABILITIES: readonly string[] = [
  ...new Set(Object.values(METHODS).flatMap((methods) => Object.values(methods))),
  ...OPTIONAL_METHODS,
];

/** What a chain cannot do without in the forks that it goes through. */
export function neededMethods({ forksAscendingEpochOrder: forks }: ChainForkConfig): string[] {
  const lasting = forks.filter(
    ({ epoch }, position) => epoch < (forks[position + 1]?.epoch ?? Number.POSITIVE_INFINITY),
  );
  const needed = lasting.flatMap(({ name }) => Object.values(METHODS[name as ForkPostBellatrix] ?? {}));
  return [...new Set(needed)];
}

const SECOND = 1000;

/** As the Engine API has them. It sets none for methods of the chain itself, which are answered from memory or disk. */
export function timeoutMs(method: string): number {
  if (/^engine_(?:newPayload|forkchoiceUpdated)/.test(method)) return 8 * SECOND;
  return method.startsWith("engine_") ? SECOND : 5 * SECOND;
}
