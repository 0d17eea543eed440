import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD, ForkSeq } from "@lodestar/params";
import type { Method, Param, RestPath } from "../../api/definition.ts";
import type { Example, ExampleChain } from "../../api/example.ts";
import { VERSION_HEADER } from "../../api/params/consensus-version.ts";
import { Failure } from "../../errors/failure.ts";
import { isReadOnly } from "../../server/access-class.ts";
import { RestTwin } from "../calls/rest-twin.ts";
import type { UpstreamRequest } from "../exchange.ts";
import { Unaskable } from "./place-on-chain.ts";

/** An operation of the standard, and how it is looked at. */
export interface Operation {
  readonly method: Method;
  readonly path: RestPath;
  /** Whether it is asked about what is final; else about the upstream's own head. */
  readonly isOfPast: boolean;
  /** Whether all upstreams have to give the same answer. */
  readonly isCompared: boolean;
  /** Whether there is no node without it: it tells of the chain from its beginning on, or how the node is. */
  readonly isOfEveryNode: boolean;
  /** True for blobs and columns, which only supernodes have to serve. */
  readonly isBlockData: boolean;
  /** True where the standard has removed or deprecated the path: no node has to serve it. */
  readonly isRetired: boolean;
}

/** They serve validators, who have to do with the present, or tell what has come since the last block. */
const OF_PRESENT = /^\/eth\/v\d\/(?:validator|beacon\/pool)\//;
/** They name what they are about, which does not change once it is final. */
const OF_SOMETHING = /\{(?:state_id|block_id|block_root|epoch)\}/;
/** The standard has these take a list, of which an empty one brings nothing. */
const TAKES_LIST =
  /\/pool\/(?:attestations|sync_committees|bls_to_execution_changes|payload_attestations)$|_and_proofs$/;
const WHOLE_STATE = "/debug/beacon/states/";
const REWARDS = "/eth/v1/beacon/rewards/";
const BLOCK_DATA = /\/(?:blobs|blob_sidecars|data_column_sidecars)\/\{block_id\}$/;

/** Paths that version 4.0.0 of the standard no longer has, or has deprecated. */
export const RETIRED: ReadonlySet<string> = new Set([
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

/** All that the standard has, of each method the current version. */
export function operationsOf(methods: readonly Method[]): Operation[] {
  return methods.flatMap((method) => {
    const path = method.rest.find((each) => each.path.startsWith("/eth/"));
    return path === undefined ? [] : [operationOf(method, path)];
  });
}

function operationOf(method: Method, path: RestPath): Operation {
  const isRead = isReadOnly(method.access);
  const isOfPast = isRead && !OF_PRESENT.test(path.path);
  const isConstant = method.dependsOn === "nothing" && !path.path.includes("/node/");
  const isFinal = isOfPast && OF_SOMETHING.test(path.path) && !method.mayGrow;
  const isOfEveryNode = method.dependsOn === "nothing" || method.dependsOn === "status";
  const isRetired = RETIRED.has(`${path.verb} ${path.path}`);
  const isCompared = !isRetired && (isConstant || isFinal);
  return { method, path, isOfPast, isCompared, isOfEveryNode, isBlockData: BLOCK_DATA.test(path.path), isRetired };
}

/** What to ask of an operation at a place of the chain. Throws an `Unaskable` for what cannot be, or is better not. */
export async function requestOf(
  { method, path }: Operation,
  place: ExampleChain,
  { withStates }: { withStates: boolean },
): Promise<UpstreamRequest> {
  const { since, params, example } = method;
  if (since !== undefined && ForkSeq[place.fork] < ForkSeq[since]) {
    throw new Unaskable(`the chain is not at ${since} yet`);
  }
  if (path.path.includes(WHOLE_STATE) && !withStates) {
    throw new Unaskable("whole states are asked for with --all alone");
  }
  if (!isReadOnly(method.access)) return emptySubmission(method, path, place.fork);
  if (path.path.startsWith(REWARDS) && place.slot <= 1) throw new Unaskable("the chain is too young for it");
  const values = await exampleOf(example, place);
  const fixed = values.map((value, position) => placedValue(params[position]!, value, place));
  const twin = new RestTwin({ called: method, asked: method, path, forkAt: () => place.fork });
  try {
    return (await twin.requestFor(fixed)).request;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Unaskable("what it tells of its chain is nothing that can be asked for");
  }
}

async function exampleOf({ params = [] }: Example, place: ExampleChain): Promise<readonly unknown[]> {
  const values = typeof params === "function" ? await params(place) : params;
  if (values.some((value) => String(value).startsWith("-"))) throw new Unaskable("the chain is too young for it");
  return values;
}

/** As a call by JSON-RPC it would be refused, so that it has no twin. */
function emptySubmission({ params }: Method, { verb, path }: RestPath, fork: string): UpstreamRequest {
  if (!TAKES_LIST.test(path)) throw new Unaskable("it submits something");
  const namesFork = params.some(({ header }) => header?.name === VERSION_HEADER);
  const headers = {
    "content-type": "application/json",
    ...(namesFork ? { [VERSION_HEADER.toLowerCase()]: fork } : {}),
  };
  return { verb, url: path, headers, body: Buffer.from("[]") };
}

/** Moves a parameter of an example to the place: its slot instead of `head`, its sync committee period instead of the first. */
function placedValue({ name }: Param, value: unknown, { slot, epoch }: ExampleChain): unknown {
  const isBlockOrState = name === "state_id" || name === "block_id";
  if (isBlockOrState && (value === "head" || value === "finalized")) return String(slot - 1);
  // A node that started from a checkpoint has no updates of earlier periods.
  return name === "start_period" ? String(Math.floor(epoch / EPOCHS_PER_SYNC_COMMITTEE_PERIOD)) : value;
}
