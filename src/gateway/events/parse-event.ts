import { isJsonObject } from "../../json/json-object.ts";
import type { StreamEvent } from "../../server/events/feed.ts";
import type { ChainEvent } from "./chain-event.ts";
import { type EventLimits, isValidData } from "./event-shapes.ts";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Parses an event. Returns undefined if its data is not a JSON object on one line, lacks required members, or is about
 * the future.
 */
export function parseEvent({ topic, data }: StreamEvent, limits: EventLimits): ChainEvent | undefined {
  if (data.includes(LINE_FEED) || data.includes(CARRIAGE_RETURN)) return undefined;
  try {
    const value: unknown = JSON.parse(data.toString());
    return isJsonObject(value) && isValidData(topic, value, limits) ? { topic, data, value } : undefined;
  } catch {
    return undefined;
  }
}
