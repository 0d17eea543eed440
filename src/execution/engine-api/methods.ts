import type { ChainForkConfig } from "@lodestar/config";
import type { ForkPostBellatrix } from "@lodestar/params";
import { EngineUnavailableError } from "../engine.ts";

type ForkMethods = Record<"newPayload" | "forkchoiceUpdated" | "getPayload", string>;

export const EXCHANGE_CAPABILITIES = "engine_exchangeCapabilities";
export const GET_CLIENT_VERSION = "engine_getClientVersionV1";
export const GET_BLOBS = "engine_getBlobsV1";
export const GET_BLOBS_WITH_CELL_PROOFS = "engine_getBlobsV2";
/** Returns the blobs that the client has, in place of all or none. */
export const GET_SOME_BLOBS = "engine_getBlobsV3";
/** Returns the cells of blobs, without the blobs. */
export const GET_CELLS = "engine_getBlobsV4";
export const GET_BODIES_BY_HASH = "engine_getPayloadBodiesByHashV2";
export const GET_BODIES_BY_RANGE = "engine_getPayloadBodiesByRangeV2";
/** Methods that a client may lack. */
export const OPTIONAL_METHODS: readonly string[] = [
  GET_CLIENT_VERSION,
  GET_BLOBS,
  GET_BLOBS_WITH_CELL_PROOFS,
  GET_SOME_BLOBS,
  GET_CELLS,
  GET_BODIES_BY_HASH,
  GET_BODIES_BY_RANGE,
];

/** Method versions by payload fork (execution-apis). */
const METHODS: Partial<Record<ForkPostBellatrix, ForkMethods>> = {
  bellatrix: versions(1, 1, 1),
  capella: versions(2, 2, 2),
  deneb: versions(3, 3, 3),
  electra: versions(4, 3, 4),
  fulu: versions(4, 3, 5),
  gloas: versions(5, 4, 6),
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
  throw new EngineUnavailableError(`The Engine API methods of ${fork} are unknown. The last supported fork is gloas.`);
}

/** All methods that this node may call. */
export const CAPABILITIES: readonly string[] = [
  ...new Set(Object.values(METHODS).flatMap((methods) => Object.values(methods))),
  ...OPTIONAL_METHODS,
];

/** Returns the methods required by the chain's scheduled forks. */
export function requiredMethods({ forksAscendingEpochOrder: forks }: ChainForkConfig): string[] {
  const active = forks.filter(
    ({ epoch }, position) => epoch < (forks[position + 1]?.epoch ?? Number.POSITIVE_INFINITY),
  );
  const needed = active.flatMap(({ name }) => Object.values(METHODS[name as ForkPostBellatrix] ?? {}));
  return [...new Set(needed)];
}

const SECOND = 1000;

/**
 * Timeouts from the Engine API specification. The specification sets none for eth_ methods, which are served from
 * memory or disk.
 */
export function timeoutMs(method: string): number {
  if (method.startsWith("engine_getPayloadBodies")) return 10 * SECOND;
  if (/^engine_(?:newPayload|forkchoiceUpdated)/.test(method)) return 8 * SECOND;
  return method.startsWith("engine_") ? SECOND : 5 * SECOND;
}
