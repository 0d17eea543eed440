import type { Type } from "@chainsafe/ssz";
import type { ChainForkConfig } from "@lodestar/config";
import type { Slot } from "@lodestar/types";
import { z } from "zod";
import { parseUint64 } from "./integers.ts";
import { type ForkSchema, refuse } from "./schema.ts";
import { memberAt, type Place, readSszJson, requireMember, TOP, WrongPayload } from "./ssz-json.ts";

/**
 * A schema for objects of the chain, which are read by the SSZ type of their fork. `decode` throws a `WrongPayload` for
 * what is no such object; `noun` says what it is, with its article.
 */
export function sszPayload<T>(noun: string, decode: (json: unknown, config: ChainForkConfig) => T): ForkSchema<T> {
  const form = z.unknown().meta({ type: "object", description: `The JSON form of ${noun}.` });
  return {
    form,
    forConfig: (config) =>
      form.transform((json, context) => {
        try {
          return decode(json, config);
        } catch (error) {
          if (!(error instanceof WrongPayload)) throw error;
          return refuse(context, json, error.message);
        }
      }),
  };
}

/** The same for objects that have one form in all forks. */
export function plainSszPayload<T>(noun: string, type: Type<T>): ForkSchema<T> {
  return sszPayload(noun, (json) => readSszJson(type, json));
}

/** The slot that stands at the end of a path of members; it tells which fork a payload belongs to. */
export function slotAt(json: unknown, path: readonly string[]): Slot {
  let value = json;
  let place: Place = TOP;
  for (const name of path) {
    value = requireMember(value, name, place);
    place = memberAt(place, name);
  }
  const slot = parseUint64(value);
  if (slot === undefined) throw new WrongPayload(`is wrong at ${place.path}: it must be a slot.`);
  // No fork is scheduled beyond what a number holds; an infinite slot would belong to the forks that never come.
  return Math.min(slot, Number.MAX_SAFE_INTEGER);
}
