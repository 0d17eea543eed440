import type { StreamEvent } from "../../server/events/feed.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** An event with what its JSON says. */
export interface ChainEvent extends StreamEvent {
  readonly value: JsonObject;
}

export interface BlockPlace {
  readonly slot: number;
  readonly root: string;
}

/** The blocks that duties of an epoch and of the one after it depend on. */
export interface DependentRoots {
  readonly previous: string;
  readonly current: string;
}

/** A block that is or was the head; of one that was not told by an event less is known. */
export interface Head extends BlockPlace {
  readonly stateRoot?: string;
  readonly dependentRoots?: DependentRoots;
}

export interface Finalized {
  readonly epoch: number;
  readonly root: string;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Undefined when its data is not a JSON object on one line, or does not say what those of its topic have to. */
export function readEvent({ topic, data }: StreamEvent): ChainEvent | undefined {
  if (data.includes(LINE_FEED) || data.includes(CARRIAGE_RETURN)) return undefined;
  try {
    const value: unknown = JSON.parse(data.toString());
    if (!isObject(value)) return undefined;
    const event = { topic, data, value };
    if (topic === "head" && !headOf(event)) return undefined;
    return topic === "finalized_checkpoint" && !finalizedOf(event) ? undefined : event;
  } catch {
    return undefined;
  }
}

export function makeEvent(topic: string, value: JsonObject): ChainEvent {
  return { topic, value, data: Buffer.from(JSON.stringify(value)) };
}

/** The head that an event of the topic `head` tells of. */
export function headOf({ value }: ChainEvent): Head | undefined {
  const slot = numberAt(value, "slot");
  const root = textAt(value, "block");
  if (slot === undefined || root === undefined) return undefined;
  const previous = textAt(value, "previous_duty_dependent_root");
  const current = textAt(value, "current_duty_dependent_root");
  return {
    slot,
    root,
    stateRoot: textAt(value, "state"),
    dependentRoots: previous !== undefined && current !== undefined ? { previous, current } : undefined,
  };
}

/** What an event of the topic `finalized_checkpoint` tells of. */
export function finalizedOf({ value }: ChainEvent): Finalized | undefined {
  const epoch = numberAt(value, "epoch");
  const root = textAt(value, "block");
  return epoch === undefined || root === undefined ? undefined : { epoch, root };
}

/** Who remembers heads. */
interface Heads {
  headWith(root: string): BlockPlace | undefined;
}

/** The slot behind which a chain has gone back with an event of the topic `chain_reorg`, where the head before it is known. */
export function ancestorSlotOf({ value }: ChainEvent, heads: Heads): number | undefined {
  const old = heads.headWith(textAt(value, "old_head_block") ?? "");
  const depth = numberAt(value, "depth");
  return old && depth !== undefined ? old.slot - depth : undefined;
}

/** Whether a chain leads to an earlier slot than that of the head before, as a dev chain does that is taken back. */
export function goesBack({ value }: ChainEvent, heads: Heads): boolean {
  const old = heads.headWith(textAt(value, "old_head_block") ?? "");
  const slot = numberAt(value, "slot");
  return old !== undefined && slot !== undefined && slot < old.slot;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What stands at the end of a path of names, as a text. */
export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  let found = value;
  for (const name of path) found = isObject(found) ? found[name] : undefined;
  if (typeof found === "number" || typeof found === "boolean") return String(found);
  return typeof found === "string" ? found.toLowerCase() : undefined;
}

/** The standard writes numbers as texts. */
export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const text = textAt(value, ...path);
  const number = text === undefined || !/^\d+$/.test(text) ? Number.NaN : Number(text);
  return Number.isSafeInteger(number) ? number : undefined;
}
