import { isJsonObject } from "../../json/json-object.ts";
import type { StreamEvent } from "../../server/events/feed.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** An event with its parsed data. */
export interface ChainEvent extends StreamEvent {
  readonly value: JsonObject;
}

export interface BlockRef {
  readonly slot: number;
  readonly root: string;
}

/** Blocks that the duties of the current and the next epoch depend on. */
export interface DependentRoots {
  readonly previous: string;
  readonly current: string;
}

/** A current or former head. Without an event, only slot and root are known. */
export interface Head extends BlockRef {
  readonly stateRoot?: string;
  readonly dependentRoots?: DependentRoots;
}

export interface FinalizedCheckpoint {
  readonly epoch: number;
  readonly root: string;
}

export function createEvent(topic: string, value: JsonObject): ChainEvent {
  return { topic, value, data: Buffer.from(JSON.stringify(value)) };
}

/** Returns the head of a `head` event. */
export function headOf({ value }: ChainEvent): Head | undefined {
  const slot = numberAt(value, "slot");
  const root = stringAt(value, "block");
  if (slot === undefined || root === undefined) return undefined;
  const previous = stringAt(value, "previous_duty_dependent_root");
  const current = stringAt(value, "current_duty_dependent_root");
  return {
    slot,
    root,
    stateRoot: stringAt(value, "state"),
    dependentRoots: previous !== undefined && current !== undefined ? { previous, current } : undefined,
  };
}

/** Returns the checkpoint of a `finalized_checkpoint` event. */
export function finalizedOf({ value }: ChainEvent): FinalizedCheckpoint | undefined {
  const epoch = numberAt(value, "epoch");
  const root = stringAt(value, "block");
  return epoch === undefined || root === undefined ? undefined : { epoch, root };
}

interface HeadLookup {
  findHead(root: string): BlockRef | undefined;
}

/** Returns the slot of the common ancestor of a `chain_reorg` event, or undefined if its old head is unknown. */
export function reorgAncestorSlot({ value }: ChainEvent, heads: HeadLookup): number | undefined {
  const old = heads.findHead(stringAt(value, "old_head_block") ?? "");
  const depth = numberAt(value, "depth");
  return old && depth !== undefined ? old.slot - depth : undefined;
}

/** True if the chain now ends at an earlier slot, as after a dev chain revert. */
export function isRewind({ value }: ChainEvent, heads: HeadLookup): boolean {
  const old = heads.findHead(stringAt(value, "old_head_block") ?? "");
  const slot = numberAt(value, "slot");
  return old !== undefined && slot !== undefined && slot < old.slot;
}

/** Returns the value at a path of member names, as a lowercase string. */
export function stringAt(value: unknown, ...path: readonly string[]): string | undefined {
  let current = value;
  for (const name of path) current = isJsonObject(current) ? current[name] : undefined;
  if (typeof current === "number" || typeof current === "boolean") return String(current);
  return typeof current === "string" ? current.toLowerCase() : undefined;
}

/** Returns the integer at a path. The Beacon API writes integers as decimal strings. */
export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const text = stringAt(value, ...path);
  const number = text === undefined || !/^\d+$/.test(text) ? Number.NaN : Number(text);
  return Number.isSafeInteger(number) ? number : undefined;
}
