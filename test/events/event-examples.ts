import { readFileSync } from "node:fs";

type DocumentVersion = "v2.5.0" | "v4.0.0";

interface EventsOperation {
  parameters: [{ schema: { items: { enum: string[] } } }];
  responses: { 200: { content: { "text/event-stream": { examples: Record<string, { value: string }> } } } };
}

function readEvents(version: DocumentVersion): EventsOperation {
  const file = new URL(`../fixtures/openapi/${version}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")).paths["/eth/v1/events"].get;
}

/** The topics that one of the standard's documents names. */
export function topicsOf(version: DocumentVersion): string[] {
  return readEvents(version).parameters[0].schema.items.enum;
}

/** The data of the example that one of the standard's documents gives for each topic. The documents have no schemas for them. */
export function readExamples(version: DocumentVersion): Map<string, unknown> {
  const { examples } = readEvents(version).responses[200].content["text/event-stream"];
  return new Map(
    Object.entries(examples).map(([topic, { value }]) => [topic, JSON.parse(value.slice(value.indexOf("data: ") + 6))]),
  );
}

/** Lengths that depend on the preset or on the size of a committee. */
const ANY_LENGTH = ["aggregation_bits", "committee_bits", "sync_committee_bits"];

/**
 * What a value looks like: members by name, elements of lists by their first, and of scalars the kind, for bytes with
 * their number. Two values of one form have equal forms.
 */
export function formOf(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) return [formOf(value[0])];
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, formOf(member, key)]));
  }
  if (typeof value !== "string") return typeof value;
  if (/^\d+$/.test(value)) return "decimal";
  if (!/^0x([0-9a-fA-F]{2})*$/.test(value)) return "text";
  return ANY_LENGTH.includes(name) ? "bits" : `${(value.length - 2) / 2} bytes`;
}
