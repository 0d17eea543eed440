import type { ContainerType } from "@chainsafe/ssz";
import { z } from "zod";
import { BuilderEntry, BuilderPreferenceEntry, MAX_BUILDER_ENTRIES } from "../../execution/builder/request-auth.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { addIssue, describeValue, type ParamSchema } from "./schema.ts";
import { InvalidPayloadError, type JsonObject, readSszJson } from "./ssz-payload.ts";

/** The header with the URL of a builder that is asked for bids directly. */
export const BUILDER_URL_HEADER = "Eth-Builder-Url";

const LIST_FORM = `a list of at most ${MAX_BUILDER_ENTRIES} objects`;

/** Parses an entry, in which the URL is text. Throws an `InvalidPayloadError`. */
function readEntry<T>(type: ContainerType<never>, json: unknown): T {
  const { url, ...members } = (json ?? {}) as JsonObject;
  if (typeof url !== "string" || !URL.canParse(url)) throw new InvalidPayloadError("has no valid URL.");
  const unset = { pubkey: `0x${"00".repeat(48)}` };
  return readSszJson(type, { ...unset, ...members, url: `0x${Buffer.from(url).toString("hex")}` }) as T;
}

function listOf<T>(noun: string, items: object, parse: (items: unknown[]) => T[] | null): ParamSchema<T[]> {
  return z
    .unknown()
    .meta({ type: "array", items, maxItems: MAX_BUILDER_ENTRIES, description: `A list of ${noun}.` })
    .transform((value, context) => {
      const parsed = Array.isArray(value) && value.length <= MAX_BUILDER_ENTRIES ? parse(value) : null;
      if (parsed) return parsed;
      return addIssue(context, value, `must be ${LIST_FORM}, but ${describeValue(value)} was given.`);
    });
}

/** Builders to ask for bids. As in the standard, malformed entries are ignored. */
export const builderEntries = listOf("builder entries", {}, (items) =>
  items.flatMap((item) => {
    try {
      return [readEntry<BuilderEntry>(BuilderEntry as never, item)];
    } catch (error) {
      if (error instanceof InvalidPayloadError) return [];
      throw error;
    }
  }),
);

/** Preferences for builders. An invalid one is the reason why it is, as a clause. */
export const builderPreferenceEntries = listOf("builder preference entries", { type: "object" }, (items) => {
  if (!items.every(isJsonObject)) return null;
  return items.map((item): BuilderPreferenceEntry | string => {
    try {
      return readEntry<BuilderPreferenceEntry>(BuilderPreferenceEntry as never, item);
    } catch (error) {
      if (error instanceof InvalidPayloadError) return error.message;
      throw error;
    }
  });
});
