import { batch, computed, signal } from "@preact/signals";
import { type ChainEvent, RpcError } from "../client/index.ts";
import { type BlockNote, placeBlocks } from "./chain-tree.ts";
import { messageOf } from "./format.ts";
import { hasEvents, node, requiresToken } from "./node.ts";

/** Number of recent slots shown. */
const SHOWN_SLOTS = 96;
/** Polling interval for values that have no events: peers, and the time of a dev chain. */
const REFRESH_MILLIS = 10_000;
const RECONNECT_MILLIS = 2000;
const MAX_RECONNECT_MILLIS = 30_000;
const TOPICS = ["head", "block", "chain_reorg", "finalized_checkpoint"] as const;
const MAX_REORGS = 20;
const MANY_VALIDATORS = 10_000;

export interface Constants {
  slotsPerEpoch: number;
  secondsPerSlot: number;
  /** Unix seconds. */
  genesisTime: number;
  network: string;
}

interface ChainTime {
  slot: number;
  /** Chain time until the next slot, as of `readAt`. */
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

type ChainHead = Awaited<ReturnType<typeof node.getChainHead>>;
type Participation = Awaited<ReturnType<typeof node.getParticipation>>;

export type Connection = "connecting" | "live" | "lost" | "rejected" | "token required";

export const connection = signal<Connection>("connecting");
/** Error message while the node is unreachable or rejects calls. */
export const trouble = signal("");
export const constants = signal<Constants | undefined>(undefined);
export const version = signal("");
export const chainHead = signal<ChainHead | undefined>(undefined);
export const participation = signal<Participation | undefined>(undefined);
/** Known participation by epoch. */
export const votesByEpoch = signal<ReadonlyMap<number, number>>(new Map());
/** Fork of the head. */
export const fork = signal("");
/** Name of the execution client. Empty if there is none. */
export const executionClient = signal("");
export const syncing = signal<Awaited<ReturnType<typeof node.get_v1_node_syncing>> | undefined>(undefined);
export const peerCount = signal<string | undefined>(undefined);
export const chainTime = signal<ChainTime | undefined>(undefined);
export const reorgs = signal<readonly Reorg[]>([]);
const blocks = signal<ReadonlyMap<string, BlockNote>>(new Map());

export const placedBlocks = computed(() => placeBlocks(blocks.value, chainHead.value?.head_block_root ?? ""));
/** True if the node executes payloads itself and serves eth_* methods. Undefined until known. */
export const hasEvm = signal<boolean | undefined>(undefined);
/** True if the node lets clients control the chain. Undefined until known. */
export const isDevChain = signal<boolean | undefined>(undefined);
/** True if loading a past state takes seconds and the list of validators changes on every new head. */
export const hasLargeRegistry = computed(() => Number(participation.value?.validators ?? 0) > MANY_VALIDATORS);

export interface KnownChain extends Constants {
  head: ChainHead;
  time: ChainTime;
}

/** Undefined until spec, head and time are known. No page is rendered before that, so that none uses defaults. */
export const knownChain = computed<KnownChain | undefined>(() => {
  const head = chainHead.value;
  const time = chainTime.value;
  return constants.value && head && time ? { ...constants.value, head, time } : undefined;
});

/** Returns the known chain, for use in pages. */
export function useChain(): KnownChain {
  if (knownChain.value === undefined) throw new Error("The chain is not known yet.");
  return knownChain.value;
}

/** Follows the chain while the page is open. */
export async function follow(): Promise<void> {
  for (let pause = RECONNECT_MILLIS; ; pause = Math.min(2 * pause, MAX_RECONNECT_MILLIS)) {
    try {
      await connect();
    } catch (error) {
      if (connection.value === "live") pause = RECONNECT_MILLIS;
      trouble.value = messageOf(error);
      if (await requiresToken().catch(() => false)) {
        connection.value = "token required";
        return;
      }
      connection.value = error instanceof RpcError ? "rejected" : "lost";
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Resolves when the event subscription ends. */
async function connect(): Promise<void> {
  // Subscribes first, so nothing is missed while the history is read.
  const subscription = hasEvents ? await node.subscribe(TOPICS, onEvent) : undefined;
  const answers = await node.batch([
    ["get_v1_config_spec"],
    ["get_v1_beacon_genesis"],
    ["get_v1_node_version"],
    ["getChainTime"],
    ["getChainHead"],
    ["getParticipation"],
  ]);
  const [spec, genesis, versions, time, head, voting] = answers.map(orThrow) as Answers<typeof answers>;
  noteForks(spec);
  const recentBlocks = await readPast(Number(time.slot));
  batch(() => {
    constants.value = {
      slotsPerEpoch: Number(spec.SLOTS_PER_EPOCH),
      secondsPerSlot: Number(spec.SLOT_DURATION_MS ?? Number(spec.SECONDS_PER_SLOT) * 1000) / 1000,
      genesisTime: Number(genesis.genesis_time),
      network: String(spec.CONFIG_NAME ?? ""),
    };
    version.value = versions.version;
    // The address may be serving a different chain by now.
    blocks.value = recentBlocks;
    reorgs.value = [];
    votesByEpoch.value = new Map();
    applyHead(head, voting, time);
    connection.value = "live";
  });
  await Promise.all([readCapabilities(), refreshRest()]);
  const timer = setInterval(() => void refreshRest().catch(noteTrouble), REFRESH_MILLIS);
  try {
    if (subscription) throw (await subscription.ended) ?? new Error("The node ended the event subscription.");
    await new Promise(() => {});
  } finally {
    clearInterval(timer);
  }
}

type Answers<T extends readonly unknown[]> = { [K in keyof T]: Exclude<T[K], Error> };

function orThrow<T>(answer: T | Error): T {
  if (answer instanceof Error) throw answer;
  return answer;
}

/** Detects the node's capabilities through cheap calls, because the `rpc.discover` document is large. */
async function readCapabilities(): Promise<void> {
  const answers = await node.batch([["dev_getSnapshots"], ["eth_blockNumber"]]);
  const [hasControl, hasExecution] = answers.map((answer) => !(answer instanceof Error));
  isDevChain.value = hasControl;
  hasEvm.value = hasExecution;
}

function noteTrouble(error: unknown): void {
  trouble.value = messageOf(error);
}

function onEvent(event: ChainEvent<(typeof TOPICS)[number]>): void {
  switch (event.topic) {
    case "block":
      unknown.add(event.data.block);
      void refreshSoon();
      break;
    case "chain_reorg": {
      const { slot, depth, old_head_block: oldHead, new_head_block: newHead } = event.data;
      reorgs.value = [{ slot, depth, oldHead, newHead }, ...reorgs.value].slice(0, MAX_REORGS);
      votesByEpoch.value = new Map();
      break;
    }
    case "head":
    case "finalized_checkpoint":
      void refreshSoon();
  }
}

/** Announced blocks that have not been loaded yet. */
const unknown = new Set<string>();
let isRefreshing = false;
let isStale = false;

/** Runs one refresh at a time, followed by another if anything changed in the meantime. */
async function refreshSoon(): Promise<void> {
  isStale = true;
  if (isRefreshing) return;
  isRefreshing = true;
  while (isStale) {
    // A block event and a head event arrive in close succession, so wait for both.
    await new Promise((resolve) => setTimeout(resolve));
    isStale = false;
    await refresh().catch(noteTrouble);
  }
  isRefreshing = false;
}

/** Reloads the data that depends on the head. */
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
  await loadAncestry(head.head_block_root, Number(time.slot));
  batch(() => applyHead(head, voting, time));
}

function applyHead(head: ChainHead, voting: Participation, time: Time): void {
  chainHead.value = head;
  participation.value = voting;
  chainTime.value = timeOf(time);
  forgetLater(chainTime.value.slot);
  const epoch = Number(voting.epoch);
  // A dev chain may have been reverted.
  const votes = new Map([...votesByEpoch.value].filter(([past]) => past < epoch)).set(epoch, voting.current_epoch);
  if (voting.previous_epoch !== null) votes.set(epoch - 1, voting.previous_epoch);
  votesByEpoch.value = votes;
}

/** Fork names by fork version, as listed in the configuration. */
const forkNames = new Map<string, string>();

function noteForks(spec: Record<string, unknown>): void {
  for (const [key, version] of Object.entries(spec)) {
    const name = /^(\w+)_FORK_VERSION$/.exec(key)?.[1]?.toLowerCase();
    if (name !== undefined) forkNames.set(String(version), name === "genesis" ? "phase0" : name);
  }
}

/** Returns the name of a fork, or its version if the configuration does not list a name. */
export function forkName(version: string): string {
  return forkNames.get(version) ?? version;
}

/** Polls values that have no events. */
async function refreshRest(): Promise<void> {
  const [sync, peers, versions, headFork] = await node.batch([
    ["get_v1_node_syncing"],
    ["get_v1_node_peer_count"],
    ["get_v2_node_version"],
    ["get_v1_beacon_states_fork", { state_id: "head" }],
  ]);
  if (!(versions instanceof Error)) {
    const client = versions.execution_client;
    executionClient.value = client === undefined ? "" : `${client.name} ${client.version}`;
  }
  if (!(headFork instanceof Error)) fork.value = forkName(headFork.current_version);
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

/** Loads a block and its unknown ancestors, back to the oldest slot shown. */
async function loadAncestry(root: string, currentSlot: number): Promise<void> {
  const found: BlockNote[] = [];
  const oldest = currentSlot - SHOWN_SLOTS;
  for (let next = root; !blocks.value.has(next); ) {
    const note = noteOf(await node.get_v1_beacon_headers_blockId({ block_id: next }));
    found.push(note);
    if (note.slot <= Math.max(0, oldest)) break;
    next = note.parentRoot;
  }
  take(found);
}

/** Drops the blocks after the head, when a dev chain has been reverted. */
function forgetLater(slot: number): void {
  const remaining = [...blocks.value].filter(([, block]) => block.slot <= slot);
  if (remaining.length < blocks.value.size) blocks.value = new Map(remaining);
}

function take(found: readonly BlockNote[]): void {
  if (found.length === 0) return;
  const oldest = (chainTime.value?.slot ?? 0) - 2 * SHOWN_SLOTS;
  const recent = [...blocks.value].filter(([, { slot }]) => slot > oldest);
  blocks.value = new Map([...recent, ...found.map((note) => [note.root, note] as const)]);
}

/** Loads all blocks in fork choice and their ancestors. */
async function readPast(currentSlot: number): Promise<Map<string, BlockNote>> {
  const oldest = Math.max(0, currentSlot - SHOWN_SLOTS);
  const slots = Array.from({ length: currentSlot - oldest + 1 }, (_, index) => String(oldest + index));
  const headers = await node.batch(slots.map((slot) => ["get_v1_beacon_headers", { slot }] as const));
  const notes = headers.flatMap((answer) => (answer instanceof Error ? [] : answer.map(noteOf)));
  return new Map(notes.map((note) => [note.root, note]));
}
