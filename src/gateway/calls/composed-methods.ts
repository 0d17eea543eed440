import { activePreset, type ForkName, isForkPostElectra } from "@lodestar/params";
import type { Args } from "../../api/bind.ts";
import { slotOrRoot } from "../../api/lookup.ts";
import type { Timers } from "../../async/timers.ts";
import { invalidParams } from "../../errors/failure.ts";
import { encodeJson } from "../../json/encode.ts";
import type { Caller, Cancellation, MethodResponse } from "../../server/method-table.ts";
import { type ChainSpec, forkAt, slotAt } from "../network/chain-spec.ts";
import { isErrorResponse } from "../upstream/requests/error-response.ts";
import { toRpcAnswer, upstreamHeaders } from "./responses/rpc-result.ts";
import { toFailure } from "./responses/upstream-failure.ts";
import { methodNamed, readValue, type StandardOperations } from "./standard-operations.ts";

export interface HandlerContext {
  readonly operations: StandardOperations;
  readonly chainSpec: ChainSpec;
  readonly timers: Pick<Timers, "unixNow">;
  readonly cancellation: Cancellation;
  readonly caller?: Caller | undefined;
}

/** Handles a method by calls of standard operations. `args` are the parsed parameters. */
export type ComposedHandler = (args: Args, call: HandlerContext) => Promise<MethodResponse>;

type Json = Record<string, unknown>;

/** Creates a handler that transforms the result of one operation. */
function fromOperation<T>(name: string, params: Json, transform: (value: T) => unknown): ComposedHandler {
  return async (_args, { operations, cancellation }) => {
    const { value, headers } = await operations.read(name, params, cancellation, transform);
    return { body: encodeJson(value), headers };
  };
}

interface Header {
  root: string;
  header: { message: { slot: string } };
}

interface Leaf {
  root: string;
  slot: string;
}

interface Checkpoint {
  epoch: string;
  root: string;
}

type FinalityCheckpoints = Record<"finalized" | "previous_justified" | "current_justified", Checkpoint>;

interface FinalizedBlock {
  root: string;
  isGenesis: boolean;
}

interface Peer {
  peer_id: string;
  last_seen_p2p_address: string;
  agent?: string;
}

const IDENTITY = "get_v1_node_identity";
const CONNECTED = { state: ["connected"] };

/** Handlers of methods that standard operations fully cover, by method name. */
export const COMPOSED_METHODS: Readonly<Record<string, ComposedHandler>> = {
  getBeaconHead: fromOperation<Header>(
    "get_v1_beacon_headers_blockId",
    { block_id: "head" },
    ({ header }) => header.message.slot,
  ),
  getChainHead,
  getNodeVersion: fromOperation<{ version: string }>("get_v1_node_version", {}, ({ version }) => version),
  getSyncing: fromOperation<{ is_syncing: boolean }>("get_v1_node_syncing", {}, ({ is_syncing }) => is_syncing),
  getNetworkPeerId: fromOperation<{ peer_id: string }>(IDENTITY, {}, ({ peer_id }) => peer_id),
  getNetworkEnr: fromOperation<{ enr: string }>(IDENTITY, {}, ({ enr }) => enr),
  getNetworkPeers: fromOperation<Peer[]>("get_v1_node_peers", CONNECTED, (peers) =>
    peers.map(({ peer_id }) => peer_id),
  ),
  getSpecPreset: fromOperation<Json>("get_v1_config_spec", {}, (spec) => {
    const ofPreset = Object.keys(activePreset).filter((name) => name in spec);
    return { ...spec, ...Object.fromEntries(ofPreset.map((name) => [name.toLowerCase(), spec[name]])) };
  }),
  getBeaconBlock: nullIfNotFound("getBeaconBlock", "get_v1_beacon_blocks_blockId", "block_id"),
  getBeaconState: nullIfNotFound("getBeaconState", "get_v1_debug_beacon_states_stateId", "state_id"),
  get_v1_debug_beacon_heads: fromOperation<Leaf[]>("get_v2_debug_beacon_heads", {}, (leaves) =>
    leaves.map(({ root, slot }) => ({ root, slot })),
  ),
  get_v1_validator_aggregate_attestation: getAggregate,
};

/** Handlers of extension methods that no upstream supports. Standard operations provide only part of the result. */
export const FALLBACK_HANDLERS: Readonly<Record<string, ComposedHandler>> = {
  peers: fromOperation<Peer[]>("get_v1_node_peers", CONNECTED, (peers) => ({ peers: peers.map(describePeer) })),
  getChainTime,
};

async function getChainHead(
  _args: Args,
  { operations, chainSpec, cancellation }: HandlerContext,
): Promise<MethodResponse> {
  const firstSlot = ({ epoch }: Checkpoint) => String(BigInt(epoch) * BigInt(chainSpec.slotsPerEpoch));
  const [head, { value: checkpoints }, finalizedBlock] = await Promise.all([
    operations.read(
      "get_v1_beacon_headers_blockId",
      { block_id: "head" },
      cancellation,
      ({ root, header: { message } }: Header) => ({ head_slot: message.slot, head_block_root: root }),
    ),
    operations.read(
      "get_v1_beacon_states_finality_checkpoints",
      { state_id: "head" },
      cancellation,
      ({ finalized, previous_justified, current_justified: justified }: FinalityCheckpoints) => ({
        candidates: [finalized, previous_justified, justified] as const,
        justified: { justified_slot: firstSlot(justified), justified_block_root: justified.root },
      }),
    ),
    fetchFinalizedHeader(operations, cancellation),
  ]);
  const finalized = resolveFinalized(checkpoints.candidates, finalizedBlock);
  const value = {
    ...head.value,
    finalized_slot: firstSlot(finalized),
    finalized_block_root: finalized.root,
    ...checkpoints.justified,
  };
  return { body: encodeJson(value), headers: head.headers };
}

/** Returns undefined if the node does not have the block, for example after a checkpoint sync. */
async function fetchFinalizedHeader(
  operations: StandardOperations,
  cancellation: Cancellation,
): Promise<FinalizedBlock | undefined> {
  const method = methodNamed("get_v1_beacon_headers_blockId");
  const response = await operations.call(method.name, { block_id: "finalized" }, cancellation);
  if (isErrorResponse(response)) return undefined;
  const read = ({ root, header: { message } }: Header) => ({ root, isGenesis: message.slot === "0" });
  return (await readValue(method, response, cancellation, read)).value;
}

/**
 * Between the start of an epoch and its first block, fork choice is ahead of the state of the head: its finalized
 * checkpoint is then one of the justified checkpoints of that state. The genesis root is ambiguous, because checkpoints
 * without an earlier block share it.
 */
function resolveFinalized(candidates: readonly [Checkpoint, ...Checkpoint[]], block?: FinalizedBlock): Checkpoint {
  const checkpoint = block?.isGenesis ? undefined : candidates.find(({ root }) => root === block?.root);
  return checkpoint ?? candidates[0];
}

function describePeer({ peer_id: peerId, last_seen_p2p_address: address, agent = "" }: Peer) {
  return {
    id: peerId,
    info: { peerId, addrs: [address], protocols: [], protoVersion: "", agentVersion: agent },
    connectionState: "Connected",
    score: 0,
  };
}

/** Creates a handler for a block or state by slot or root that returns null if it is not found. */
function nullIfNotFound(method: string, operation: string, id: string): ComposedHandler {
  return async (args, { operations, cancellation }) => {
    const requestedId = slotOrRoot(method, args as { slot?: unknown; root?: string });
    const response = await operations.call(operation, { [id]: String(requestedId) }, cancellation);
    if (isErrorResponse(response) && toFailure(methodNamed(operation), response).kind === "not-found") {
      return { body: encodeJson(null), headers: upstreamHeaders(response) };
    }
    return toRpcAnswer(methodNamed(operation), response);
  };
}

async function getAggregate(
  args: Args,
  { operations, chainSpec, cancellation }: HandlerContext,
): Promise<MethodResponse> {
  const { slot, attestationDataRoot: root, committeeIndex } = args;
  const attestation = { slot: String(slot), attestation_data_root: String(root) };
  const first = "get_v1_validator_aggregate_attestation";
  if (committeeIndex === undefined && !isForkPostElectra(forkAt(chainSpec, Number(slot)) as ForkName)) {
    return toRpcAnswer(methodNamed(first), await operations.call(first, attestation, cancellation));
  }
  const index = String(
    committeeIndex ?? (await singleCommittee(attestation.slot, { operations, chainSpec, cancellation })),
  );
  const params = { ...attestation, committee_index: index };
  const response = await operations.call("get_v2_validator_aggregate_attestation", params, cancellation);
  return toRpcAnswer(methodNamed(first), response, () => ({}));
}

/**
 * Returns the committee index if the slot has only one committee. From electra on, attestation data does not contain
 * it.
 */
async function singleCommittee(
  slot: string,
  { operations, chainSpec, cancellation }: Pick<HandlerContext, "operations" | "chainSpec" | "cancellation">,
): Promise<number> {
  const epoch = String(BigInt(slot) / BigInt(chainSpec.slotsPerEpoch));
  const method = methodNamed("get_v1_beacon_states_stateId_committees_epoch");
  const response = await operations.call(method.name, { state_id: "head", epoch, slot }, cancellation);
  // Without known committees there are no attestations either.
  if (isErrorResponse(response) && toFailure(method, response).kind === "invalid-params") return 0;
  const { value: count } = await readValue(method, response, cancellation, ({ length }: unknown[]) => length);
  if (count === 1) return 0;
  throw invalidParams(
    `The parameter "committee_index" is missing: slot ${slot} has ${count} committees, and attestation data has no ` +
      "committee index from electra on.",
  );
}

/** Time of a public network, whose clock is the wall clock. */
async function getChainTime(_args: Args, { chainSpec, timers }: HandlerContext): Promise<MethodResponse> {
  const { genesisTime, secondsPerSlot } = chainSpec;
  const now = timers.unixNow();
  const slot = slotAt(chainSpec, now);
  const nextSlot = now < genesisTime * 1000 ? 0 : slot + 1;
  const seconds = (millis: number) => (millis / 1000).toFixed(3);
  const time = {
    chain_time: seconds(now),
    wall_time: seconds(now),
    offset: seconds(0),
    speed: 1,
    slot: String(slot),
    wall_slot: String(slot),
    seconds_to_next_slot: seconds((genesisTime + nextSlot * secondsPerSlot) * 1000 - now),
  };
  return { body: encodeJson(time) };
}
