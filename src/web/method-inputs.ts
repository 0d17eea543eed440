import { type Parameter, writeValue } from "./calls.ts";

type Schema = Parameter["schema"];

/** Form control for a parameter. */
export interface MethodInput {
  kind: "text" | "area" | "select" | "checkboxes";
  /** All values of a select or of checkboxes, or suggestions for a text field. */
  options: readonly string[];
}

/** Chooses the form control based on a parameter's JSON schema. */
export function inputOf(schema: Schema): MethodInput {
  if (Array.isArray(schema.enum)) return { kind: "select", options: schema.enum.map(String) };
  if (schema.type === "boolean") return { kind: "select", options: ["true", "false"] };
  const items = schema.items as Schema | undefined;
  if (Array.isArray(items?.enum)) return { kind: "checkboxes", options: items.enum.map(String) };
  const forms = alternativesOf(schema);
  const isText = forms.some(({ type }) => type === "string" || type === "integer" || type === "number");
  return { kind: isText ? "text" : "area", options: forms.flatMap(wordsOf) };
}

/** Returns an example as form text. A string is not quoted if the parameter may be a string. */
export function exampleText(value: unknown, schema: Schema = {}): string {
  const isText = typeof value === "string" && alternativesOf(schema).some(({ type }) => type === "string");
  return isText ? value : writeValue(value);
}

function alternativesOf(schema: Schema): Schema[] {
  const alternatives = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  return alternatives?.flatMap(alternativesOf) ?? [schema];
}

/** Returns the words allowed for a string: those of an enum, or the leading alternatives of a pattern. */
function wordsOf({ enum: values, pattern }: Schema): string[] {
  if (Array.isArray(values)) return values.map(String);
  const words = typeof pattern === "string" ? /^\^\(([a-z]+(?:\|[a-z]+)*)\|/.exec(pattern)?.[1] : undefined;
  return words?.split("|") ?? [];
}

/** Chain position that prefilled calls refer to. */
export interface ChainPosition {
  slot: number;
  epoch: number;
  headRoot: string;
}

/** The rewards for an epoch are known two epochs later. */
const REWARD_DELAY_EPOCHS = 2;

/**
 * Returns an example value for this chain. Examples were recorded on another chain, so slots, epochs, roots and public
 * keys are replaced with existing ones.
 */
export function exampleFor(method: string, name: string, recorded: unknown, position: ChainPosition): unknown {
  if (isPubkey(recorded)) return "0";
  if (Array.isArray(recorded) && recorded.some(isPubkey)) return ["0"];
  if (typeof recorded !== "string" || !/^(0x[0-9a-f]{64}|\d+)$/.test(recorded)) return recorded;
  switch (name) {
    case "state_id":
    case "block_id":
      return "head";
    case "slot":
      return String(position.slot);
    case "epoch":
      return String(Math.max(0, position.epoch - (method.includes("_rewards_") ? REWARD_DELAY_EPOCHS : 0)));
    case "block_root":
    case "beacon_block_root":
      return position.headRoot;
    default:
      return recorded;
  }
}

const isPubkey = (value: unknown) => typeof value === "string" && /^0x[0-9a-f]{96}$/.test(value);
