import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD, ForkSeq } from "@lodestar/params";
import type { MethodDefinition, Param, RestPath } from "../../api/definition.ts";
import type { Example, ExampleChain } from "../../api/example.ts";
import { VERSION_HEADER } from "../../api/params/consensus-version.ts";
import { Failure } from "../../errors/failure.ts";
import { isReadOnly } from "../../server/access-class.ts";
import { RestRequestBuilder } from "../calls/rest-request-builder.ts";
import type { UpstreamRequest } from "../upstream/upstream-call.ts";
import { UntestableOperation } from "./example-chain.ts";

/** A standard operation and how it is tested. */
export interface Operation {
  readonly method: MethodDefinition;
  readonly path: RestPath;
  /** True if it is tested on a finalized block, otherwise on the upstream's own head. */
  readonly isHistorical: boolean;
  /** True if all upstreams must give the same answer. */
  readonly isCompared: boolean;
  /** True if every node must have it: it depends only on genesis, configuration or node status. */
  readonly isMandatory: boolean;
  /** True for blobs and columns, which only supernodes have to serve. */
  readonly isBlockData: boolean;
  /** True where the standard has removed or deprecated the path: no node has to serve it. */
  readonly isRetired: boolean;
}

/** Validator and pool operations are about the current slot. */
const CURRENT_PATH = /^\/eth\/v\d\/(?:validator|beacon\/pool)\//;
/** The path identifies an object, which does not change once it is final. */
const IDENTIFIED_PATH = /\{(?:state_id|block_id|block_root|epoch)\}/;
/** Submissions of a list. An empty list has no effect. */
const TAKES_LIST =
  /\/pool\/(?:attestations|sync_committees|bls_to_execution_changes|payload_attestations)$|_and_proofs$/;
const WHOLE_STATE = "/debug/beacon/states/";
const REWARDS = "/eth/v1/beacon/rewards/";
const BLOCK_DATA = /\/(?:blobs|blob_sidecars|data_column_sidecars)\/\{block_id\}$/;

/** Paths that version 4.0.0 of the Beacon API has removed or deprecated. */
export const RETIRED_PATHS: ReadonlySet<string> = new Set([
  "GET /eth/v1/beacon/blob_sidecars/{block_id}",
  "GET /eth/v1/beacon/blocks/{block_id}/attestations",
  "GET /eth/v1/beacon/deposit_snapshot",
  "GET /eth/v1/beacon/pool/attestations",
  "GET /eth/v1/beacon/pool/attester_slashings",
  "GET /eth/v1/builder/states/{state_id}/expected_withdrawals",
  "GET /eth/v1/debug/beacon/heads",
  "GET /eth/v1/validator/aggregate_attestation",
  "GET /eth/v1/validator/blinded_blocks/{slot}",
  "GET /eth/v2/validator/blocks/{slot}",
  "POST /eth/v1/beacon/blocks",
  "POST /eth/v1/beacon/pool/attestations",
  "POST /eth/v1/beacon/pool/attester_slashings",
  "POST /eth/v1/validator/aggregate_and_proofs",
]);

/** Returns the standard operations, each in its current version. */
export function operationsOf(methods: readonly MethodDefinition[]): Operation[] {
  return methods.flatMap((method) => {
    const path = method.rest.find((each) => each.path.startsWith("/eth/"));
    return path === undefined ? [] : [operationOf(method, path)];
  });
}

function operationOf(method: MethodDefinition, path: RestPath): Operation {
  const isRead = isReadOnly(method.access);
  const isHistorical = isRead && !CURRENT_PATH.test(path.path);
  const isConstant = method.dependsOn === "nothing" && !path.path.includes("/node/");
  const isFinal = isHistorical && IDENTIFIED_PATH.test(path.path) && !method.growsAfterFinality;
  const isMandatory = method.dependsOn === "nothing" || method.dependsOn === "status";
  const isRetired = RETIRED_PATHS.has(`${path.verb} ${path.path}`);
  const isCompared = !isRetired && (isConstant || isFinal);
  return { method, path, isHistorical, isCompared, isMandatory, isBlockData: BLOCK_DATA.test(path.path), isRetired };
}

/** Builds the test request of an operation. Throws an `UntestableOperation` if it cannot or should not be tested. */
export async function requestOf(
  { method, path }: Operation,
  chain: ExampleChain,
  { withStates }: { withStates: boolean },
): Promise<UpstreamRequest> {
  const { since, params, example } = method;
  if (since !== undefined && ForkSeq[chain.fork] < ForkSeq[since]) {
    throw new UntestableOperation(`the chain has not reached ${since}`);
  }
  if (path.path.includes(WHOLE_STATE) && !withStates) {
    throw new UntestableOperation("whole states are requested only with --all");
  }
  if (!isReadOnly(method.access)) return emptySubmission(method, path, chain.fork);
  if (path.path.startsWith(REWARDS) && chain.slot <= 1) throw new UntestableOperation("the chain is too short");
  const values = await exampleOf(example, chain);
  const fixed = values.map((value, position) => valueAt(params[position]!, value, chain));
  const builder = new RestRequestBuilder({ called: method, operation: method, path, forkAt: () => chain.fork });
  try {
    return (await builder.build(fixed)).request;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new UntestableOperation("it reports its chain in a form that cannot be requested");
  }
}

async function exampleOf({ params = [] }: Example, chain: ExampleChain): Promise<readonly unknown[]> {
  const values = typeof params === "function" ? await params(chain) : params;
  if (values.some((value) => String(value).startsWith("-"))) throw new UntestableOperation("the chain is too short");
  return values;
}

/** Built by hand, because the JSON-RPC method rejects an empty list. */
function emptySubmission({ params }: MethodDefinition, { verb, path }: RestPath, fork: string): UpstreamRequest {
  if (!TAKES_LIST.test(path)) throw new UntestableOperation("it is a submission");
  const namesFork = params.some(({ header }) => header?.name === VERSION_HEADER);
  const headers = {
    "content-type": "application/json",
    ...(namesFork ? { [VERSION_HEADER.toLowerCase()]: fork } : {}),
  };
  return { verb, url: path, headers, body: Buffer.from("[]") };
}

/** Adapts an example parameter: `head` becomes the slot, the first sync committee period the current one. */
function valueAt({ name }: Param, value: unknown, { slot, epoch }: ExampleChain): unknown {
  const isBlockOrState = name === "state_id" || name === "block_id";
  if (isBlockOrState && (value === "head" || value === "finalized")) return String(slot - 1);
  // A node that started from a checkpoint has no updates of earlier periods.
  return name === "start_period" ? String(Math.floor(epoch / EPOCHS_PER_SYNC_COMMITTEE_PERIOD)) : value;
}
