import { batch, computed, signal } from "@preact/signals";
import type { ChainEvent } from "../client/index.ts";
import { type BlockNote, placeBlocks } from "./chain-tree.ts";
import { messageOf } from "./format.ts";
import { hasEvents, node, wantsToken } from "./node.ts";

/** How many slots behind the clock are looked at. */
const SHOWN_SLOTS = 96;
/** What no event tells of is asked for every few seconds: other nodes, and the time of a chain that somebody else moves. */
const REFRESH_MILLIS = 10_000;
const RECONNECT_MILLIS = 2000;
const TOPICS = ["head", "block", "chain_reorg", "finalized_checkpoint"] as const;
const MAX_REORGS = 20;

export interface Constants {
  slotsPerEpoch: number;
  secondsPerSlot: number;
  network: string;
}

interface ChainTime {
  slot: number;
  /** Until the next slot, in chain time, when it was read. */
  secondsLeft: number;
  speed: number;
  readAt: number;
}

export interface Reorg {
  slot: string;
  depth: string;
  oldHead: string;
  newHead: string;
}

export type Connection = "connecting" | "live" | "lost" | "token wanted";

export const connection = signal<Connection>("connecting");
/** Why the node cannot be asked. */
export const trouble = signal("");
export const constants = signal<Constants | undefined>(undefined);
export const version = signal("");
export const chainHead = signal<Awaited<ReturnType<typeof node.getChainHead>> | undefined>(undefined);
export const participation = signal<Awaited<ReturnType<typeof node.getParticipation>> | undefined>(undefined);
/** Of the votes of each epoch, as it was when it was last heard of. */
export const votesByEpoch = signal<ReadonlyMap<number, number>>(new Map());
/** Of the sync committee of each epoch, what was heard of with each head. */
export const signersByEpoch = signal<ReadonlyMap<number, readonly number[]>>(new Map());
/** The name of the fork that the head is in. */
export const fork = signal("");
/** That the node says payloads are from; empty where it has none. */
export const executionClient = signal("");
export const syncing = signal<Awaited<ReturnType<typeof node.get_v1_node_syncing>> | undefined>(undefined);
export const peerCount = signal<string | undefined>(undefined);
export const chainTime = signal<ChainTime | undefined>(undefined);
export const reorgs = signal<readonly Reorg[]>([]);
/** The names of all methods that the node has. */
export const methodNames = signal<ReadonlySet<string>>(new Set());
const blocks = signal<ReadonlyMap<string, BlockNote>>(new Map());

export const placedBlocks = computed(() => placeBlocks(blocks.value, chainHead.value?.head_block_root ?? ""));
export const isDevChain = computed(() => methodNames.value.has("dev_advance"));

/** Follows the chain for as long as the page is open. */
export async function follow(): Promise<void> {
  for (;;) {
    try {
      await connect();
    } catch (error) {
      const isTokenWanted = await wantsToken().catch(() => false);
      connection.value = isTokenWanted ? "token wanted" : "lost";
      trouble.value = messageOf(error);
      if (isTokenWanted) return;
    }
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MILLIS));
  }
}

/** Returns when the events have ended. */
async function connect(): Promise<void> {
  const spec = await node.get_v1_config_spec();
  noteForks(spec);
  const [versions, discovered] = await Promise.all([node.get_v1_node_version(), node.call("rpc.discover")]);
  const { methods } = discovered as { methods: { name: string }[] };
  // From here on nothing is missed: what happens while the past is read is told as an event.
  const subscription = hasEvents ? await node.subscribe(TOPICS, hear) : undefined;
  const time = timeOf(await node.getChainTime());
  const known = await readPast(time.slot);
  batch(() => {
    constants.value = {
      slotsPerEpoch: Number(spec.SLOTS_PER_EPOCH),
      secondsPerSlot: Number(spec.SLOT_DURATION_MS ?? Number(spec.SECONDS_PER_SLOT) * 1000) / 1000,
      network: String(spec.CONFIG_NAME ?? ""),
    };
    version.value = versions.version;
    methodNames.value = new Set(methods.map(({ name }) => name));
    // Another chain may be behind the address by now.
    blocks.value = known;
    reorgs.value = [];
    votesByEpoch.value = new Map();
    signersByEpoch.value = new Map();
    chainTime.value = time;
    connection.value = "live";
  });
  await refreshRest();
  const timer = setInterval(() => void refreshRest().catch(noteTrouble), REFRESH_MILLIS);
  try {
    if (subscription) throw (await subscription.ended) ?? new Error("The node has ended the events.");
    await new Promise(() => {});
  } finally {
    clearInterval(timer);
  }
}

function noteTrouble(error: unknown): void {
  trouble.value = messageOf(error);
}

function hear(event: ChainEvent<(typeof TOPICS)[number]>): void {
  switch (event.topic) {
    case "block":
      unknown.add(event.data.block);
      void refreshSoon();
      break;
    case "chain_reorg": {
      const { slot, depth, old_head_block: oldHead, new_head_block: newHead } = event.data;
      reorgs.value = [{ slot, depth, oldHead, newHead }, ...reorgs.value].slice(0, MAX_REORGS);
      break;
    }
    case "head":
    case "finalized_checkpoint":
      void refreshSoon();
  }
}

/** Blocks that were heard of, and not looked at yet. */
const unknown = new Set<string>();
let isRefreshing = false;
let isStale = false;

/** One question at a time, however fast a chain is moved, and one more when something happened meanwhile. */
async function refreshSoon(): Promise<void> {
  isStale = true;
  if (isRefreshing) return;
  isRefreshing = true;
  while (isStale) {
    // A block and that it is the head are told one after the other.
    await new Promise((resolve) => setTimeout(resolve));
    isStale = false;
    await refresh().catch(noteTrouble);
  }
  isRefreshing = false;
}

/** Reads again what changes with the head. */
export async function refresh(): Promise<void> {
  const roots = [...unknown].filter((root) => !blocks.value.has(root));
  unknown.clear();
  const [head, voting, time, ...headers] = await node.batch([
    ["getChainHead"],
    ["getParticipation"],
    ["getChainTime"],
    ...roots.map((root) => ["get_v1_beacon_headers_blockId", { block_id: root }] as const),
  ]);
  if (head instanceof Error) throw head;
  if (voting instanceof Error) throw voting;
  if (time instanceof Error) throw time;
  take(headers.flatMap((answer) => (answer instanceof Error ? [] : [noteOf(answer)])));
  await learn(head.head_block_root);
  batch(() => {
    const before = chainHead.value?.head_block_root;
    chainHead.value = head;
    participation.value = voting;
    chainTime.value = timeOf(time);
    forgetLater(chainTime.value.slot);
    const epoch = Number(voting.epoch);
    const votes = new Map(votesByEpoch.value).set(epoch, voting.current_epoch);
    if (voting.previous_epoch !== null) votes.set(epoch - 1, voting.previous_epoch);
    votesByEpoch.value = votes;
    if (head.head_block_root !== before && voting.sync_committee !== null) {
      const signers = [...(signersByEpoch.value.get(epoch) ?? []), voting.sync_committee];
      signersByEpoch.value = new Map(signersByEpoch.value).set(epoch, signers);
    }
  });
}

/** By the versions of the configuration. */
const forkNames = new Map<string, string>();

function noteForks(spec: Record<string, unknown>): void {
  for (const [key, version] of Object.entries(spec)) {
    const name = /^(\w+)_FORK_VERSION$/.exec(key)?.[1]?.toLowerCase();
    if (name !== undefined) forkNames.set(String(version), name === "genesis" ? "phase0" : name);
  }
}

/** What no event tells of. */
async function refreshRest(): Promise<void> {
  const [sync, peers, versions, ofHead] = await node.batch([
    ["get_v1_node_syncing"],
    ["get_v1_node_peer_count"],
    ["get_v2_node_version"],
    ["get_v1_beacon_states_fork", { state_id: "head" }],
  ]);
  if (!(versions instanceof Error)) {
    const client = versions.execution_client;
    executionClient.value = client === undefined ? "" : `${client.name} ${client.version}`;
  }
  if (!(ofHead instanceof Error)) fork.value = forkNames.get(ofHead.current_version) ?? ofHead.current_version;
  if (!(sync instanceof Error)) syncing.value = sync;
  if (!(peers instanceof Error)) peerCount.value = peers.connected;
  await refresh();
}

type Time = Awaited<ReturnType<typeof node.getChainTime>>;

function timeOf({ slot, seconds_to_next_slot: secondsLeft, speed }: Time): ChainTime {
  return { slot: Number(slot), secondsLeft: Number(secondsLeft), speed, readAt: performance.now() };
}

type Header = Awaited<ReturnType<typeof node.get_v1_beacon_headers_blockId>>;

function noteOf({ root, header: { message } }: Header): BlockNote {
  return { root, slot: Number(message.slot), parentRoot: message.parent_root, proposer: message.proposer_index };
}

/** Takes up a block and those before it that are not known, of the slots that are shown. */
async function learn(root: string): Promise<void> {
  const found: BlockNote[] = [];
  const oldest = (chainTime.value?.slot ?? 0) - SHOWN_SLOTS;
  for (let next = root; !blocks.value.has(next); ) {
    const note = noteOf(await node.get_v1_beacon_headers_blockId({ block_id: next }));
    found.push(note);
    if (note.slot <= Math.max(0, oldest)) break;
    next = note.parentRoot;
  }
  take(found);
}

/** A dev chain that has gone back knows nothing of what came after. */
function forgetLater(slot: number): void {
  const kept = [...blocks.value].filter(([, block]) => block.slot <= slot);
  if (kept.length < blocks.value.size) blocks.value = new Map(kept);
}

function take(found: readonly BlockNote[]): void {
  if (found.length === 0) return;
  const oldest = (chainTime.value?.slot ?? 0) - 2 * SHOWN_SLOTS;
  const kept = [...blocks.value].filter(([, { slot }]) => slot > oldest);
  blocks.value = new Map([...kept, ...found.map((note) => [note.root, note] as const)]);
}

/** All blocks that fork choice knows, and those of the chain before them. */
async function readPast(currentSlot: number): Promise<Map<string, BlockNote>> {
  const oldest = Math.max(0, currentSlot - SHOWN_SLOTS);
  const slots = Array.from({ length: currentSlot - oldest + 1 }, (_, index) => String(oldest + index));
  const headers = await node.batch(slots.map((slot) => ["get_v1_beacon_headers", { slot }] as const));
  const notes = headers.flatMap((answer) => (answer instanceof Error ? [] : answer.map(noteOf)));
  return new Map(notes.map((note) => [note.root, note]));
}
