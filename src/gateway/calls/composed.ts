import { activePreset, type ForkName, isForkPostElectra } from "@lodestar/params";
import type { Args } from "../../api/bind.ts";
import { onlyOne } from "../../api/lookup.ts";
import type { Timers } from "../../async/timers.ts";
import { Failure, invalidParams } from "../../errors/failure.ts";
import { encodeJson } from "../../json/encode.ts";
import type { Answer, Caller, Waiting } from "../../server/method-table.ts";
import { type ChainFacts, forkAt, slotAt } from "../chain-facts.ts";
import { isRefusal } from "../upstream/complaint.ts";
import { answerOf, originOf } from "./answers.ts";
import { failureOf } from "./failures.ts";
import { methodNamed, type Operations, readValue } from "./operations.ts";

export interface ComposedCall {
  readonly operations: Operations;
  readonly facts: ChainFacts;
  readonly timers: Pick<Timers, "unixNow">;
  readonly waiting: Waiting;
  readonly caller?: Caller | undefined;
}

/** Answers a method by operations of the standard. `args` are what a node makes of the parameters. */
export type Composition = (args: Args, call: ComposedCall) => Promise<Answer>;

type Json = Record<string, unknown>;

/** A method whose result is made of that of one operation. */
function from<T>(name: string, params: Json, make: (value: T) => unknown): Composition {
  return async (_args, { operations, waiting }) => {
    const { value, headers } = await operations.tell(name, params, waiting, make);
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

/** By the names of the methods that operations of the standard tell all about. */
export const COMPOSED: Readonly<Record<string, Composition>> = {
  getBeaconHead: from<Header>(
    "get_v1_beacon_headers_blockId",
    { block_id: "head" },
    ({ header }) => header.message.slot,
  ),
  getChainHead,
  getNodeVersion: from<{ version: string }>("get_v1_node_version", {}, ({ version }) => version),
  getSyncing: from<{ is_syncing: boolean }>("get_v1_node_syncing", {}, ({ is_syncing }) => is_syncing),
  getNetworkPeerId: from<{ peer_id: string }>(IDENTITY, {}, ({ peer_id }) => peer_id),
  getNetworkEnr: from<{ enr: string }>(IDENTITY, {}, ({ enr }) => enr),
  getNetworkPeers: from<Peer[]>("get_v1_node_peers", CONNECTED, (peers) => peers.map(({ peer_id }) => peer_id)),
  getSpecPreset: from<Json>("get_v1_config_spec", {}, (spec) => {
    const ofPreset = Object.keys(activePreset).filter((name) => name in spec);
    return { ...spec, ...Object.fromEntries(ofPreset.map((name) => [name.toLowerCase(), spec[name]])) };
  }),
  getBeaconBlock: orNull("getBeaconBlock", "get_v1_beacon_blocks_blockId", "block_id"),
  getBeaconState: orNull("getBeaconState", "get_v1_debug_beacon_states_stateId", "state_id"),
  get_v1_debug_beacon_heads: from<Leaf[]>("get_v2_debug_beacon_heads", {}, (leaves) =>
    leaves.map(({ root, slot }) => ({ root, slot })),
  ),
  get_v1_node_health: getHealth,
  get_v1_validator_aggregate_attestation: getAggregate,
};

/** By the names of the methods of which operations of the standard tell less than those nodes that have them. */
export const COMPOSED_OTHERWISE: Readonly<Record<string, Composition>> = {
  peers: from<Peer[]>("get_v1_node_peers", CONNECTED, (peers) => ({ peers: peers.map(describePeer) })),
  getChainTime,
};

async function getChainHead(_args: Args, { operations, facts, waiting }: ComposedCall): Promise<Answer> {
  const firstSlot = ({ epoch }: Checkpoint) => String(BigInt(epoch) * BigInt(facts.slotsPerEpoch));
  const [head, { value: checkpoints }, finalizedBlock] = await Promise.all([
    operations.tell(
      "get_v1_beacon_headers_blockId",
      { block_id: "head" },
      waiting,
      ({ root, header: { message } }: Header) => ({ head_slot: message.slot, head_block_root: root }),
    ),
    operations.tell(
      "get_v1_beacon_states_finality_checkpoints",
      { state_id: "head" },
      waiting,
      ({ finalized, previous_justified, current_justified: justified }: FinalityCheckpoints) => ({
        candidates: [finalized, previous_justified, justified] as const,
        justified: { justified_slot: firstSlot(justified), justified_block_root: justified.root },
      }),
    ),
    finalizedHeader(operations, waiting),
  ]);
  const finalized = finalizedOf(checkpoints.candidates, finalizedBlock);
  const value = {
    ...head.value,
    finalized_slot: firstSlot(finalized),
    finalized_block_root: finalized.root,
    ...checkpoints.justified,
  };
  return { body: encodeJson(value), headers: head.headers };
}

/** Undefined where a node does not have the block, as one that began with a later state. */
async function finalizedHeader(operations: Operations, waiting: Waiting): Promise<FinalizedBlock | undefined> {
  const method = methodNamed("get_v1_beacon_headers_blockId");
  const response = await operations.respond(method.name, { block_id: "finalized" }, waiting);
  if (isRefusal(response)) return undefined;
  const read = ({ root, header: { message } }: Header) => ({ root, isGenesis: message.slot === "0" });
  return (await readValue(method, response, waiting, read)).value;
}

/**
 * From the start of an epoch to its first block fork choice is ahead of the head's state: what it holds for final is then one of the
 * checkpoints that are justified there. By the root alone, genesis could be any of those that no block came before.
 */
function finalizedOf(candidates: readonly [Checkpoint, ...Checkpoint[]], block?: FinalizedBlock): Checkpoint {
  const found = block?.isGenesis ? undefined : candidates.find(({ root }) => root === block?.root);
  return found ?? candidates[0];
}

function describePeer({ peer_id: peerId, last_seen_p2p_address: address, agent = "" }: Peer) {
  return {
    id: peerId,
    info: { peerId, addrs: [address], protocols: [], protoVersion: "", agentVersion: agent },
    connectionState: "Connected",
    score: 0,
  };
}

/** A block or a state by the historical pair of slot and root: null where there is none. */
function orNull(method: string, asked: string, id: string): Composition {
  return async (args, { operations, waiting }) => {
    const wanted = onlyOne(method, args as { slot?: unknown; root?: string });
    const response = await operations.respond(asked, { [id]: String(wanted) }, waiting);
    if (isRefusal(response) && failureOf(methodNamed(asked), response).kind === "not-found") {
      return { body: encodeJson(null), headers: originOf(response) };
    }
    return answerOf(methodNamed(asked), response);
  };
}

const SYNCING = 206;
const NOT_INITIALISED = 503;
const HEALTHS = [200, SYNCING, NOT_INITIALISED];

/** A call may name any status, of which REST could not answer with all. */
async function getHealth({ syncingStatus = SYNCING }: Args, { operations, waiting }: ComposedCall): Promise<Answer> {
  const method = methodNamed("get_v1_node_health");
  const response = await operations.respond(method.name, {}, waiting).catch(unlessNobodyAnswers);
  if (response === undefined) return { body: encodeJson({ health: NOT_INITIALISED }) };
  if (isRefusal(response) && !HEALTHS.includes(response.status)) throw failureOf(method, response);
  const health = response.status === SYNCING ? syncingStatus : response.status;
  return { body: encodeJson({ health }), headers: originOf(response) };
}

function unlessNobodyAnswers(error: unknown): undefined {
  if (!(error instanceof Failure) || error.kind !== "unavailable") throw error;
}

async function getAggregate(args: Args, { operations, facts, waiting }: ComposedCall): Promise<Answer> {
  const { slot, attestationDataRoot: root, committeeIndex } = args;
  const wanted = { slot: String(slot), attestation_data_root: String(root) };
  const first = "get_v1_validator_aggregate_attestation";
  if (committeeIndex === undefined && !isForkPostElectra(forkAt(facts, Number(slot)) as ForkName)) {
    return answerOf(methodNamed(first), await operations.respond(first, wanted, waiting));
  }
  const index = String(committeeIndex ?? (await onlyCommittee(wanted.slot, { operations, facts, waiting })));
  const params = { ...wanted, committee_index: index };
  const response = await operations.respond("get_v2_validator_aggregate_attestation", params, waiting);
  return answerOf(methodNamed(first), response, () => ({}));
}

/** From electra on attestation data does not name its committee, which is known all the same where a slot has only one. */
async function onlyCommittee(
  slot: string,
  { operations, facts, waiting }: Pick<ComposedCall, "operations" | "facts" | "waiting">,
): Promise<number> {
  const epoch = String(BigInt(slot) / BigInt(facts.slotsPerEpoch));
  const method = methodNamed("get_v1_beacon_states_stateId_committees_epoch");
  const response = await operations.respond(method.name, { state_id: "head", epoch, slot }, waiting);
  // No attestation is known of a slot without known committees.
  if (isRefusal(response) && failureOf(method, response).kind === "invalid-params") return 0;
  const { value: count } = await readValue(method, response, waiting, ({ length }: unknown[]) => length);
  if (count === 1) return 0;
  throw invalidParams(
    `The parameter "committee_index" is missing: slot ${slot} has ${count} committees, and since electra attestation ` +
      "data does not name its own.",
  );
}

/** Of a network, whose time is the time of day. */
async function getChainTime(_args: Args, { facts, timers }: ComposedCall): Promise<Answer> {
  const { genesisTime, secondsPerSlot } = facts;
  const now = timers.unixNow();
  const slot = slotAt(facts, now);
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
