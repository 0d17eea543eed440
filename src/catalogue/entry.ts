import type { ChainForkConfig } from "@lodestar/config";
import type { z } from "zod";
import type { Api } from "../api/api.ts";
import type { Answer, Caller } from "../server/method-table.ts";
import type { ForkSchema, ParamSchema } from "./params/schema.ts";

export interface RestTwin {
  verb: "GET" | "POST";
  path: string;
}

export interface EntryParam {
  readonly name: string;
  /** Of the parameter, or of one item of a parameter that takes several. */
  readonly schema: z.ZodType;
  /** Makes the schema to read with, where the form depends on the forks of a chain; `schema` then only describes it. */
  readonly schemaFor?: (config: ChainForkConfig) => z.ZodType;
  readonly required: boolean;
  /** Whether it takes all positional parameters from here on, each one item or an array of items; by name, one array. */
  readonly each: boolean;
  readonly description: string;
}

/** One method that can be asked. Whatever lists methods is derived from entries. */
export interface Entry {
  /** The method's place in the interface document's numbering; null for a method that it does not number. */
  readonly number: number | null;
  readonly name: string;
  /** Other names that answer exactly like this one. */
  readonly aliases: readonly string[];
  /** The name of the method that this one is only another, separately numbered name of; its error texts are that one's. */
  readonly sameAs?: string;
  /** One line. */
  readonly summary: string;
  /** In positional order; the names are those of by-name calls. */
  readonly params: readonly EntryParam[];
  /** Brings positional parameters that stand in another accepted order or form into the order of `params`. */
  readonly arrange?: (params: unknown[]) => unknown[];
  /** The standard's HTTP operation with the same result, if there is one. */
  readonly rest: RestTwin | null;
  /** Submissions change the node. */
  readonly submission: boolean;
  /** `args` holds what the schemas of `params` made of a call's parameters, by name. */
  invoke(api: Api, args: Record<string, unknown>, caller?: Caller): Promise<Answer>;
}

interface ParamDefinition<T, Required extends boolean> extends Omit<EntryParam, "name"> {
  /** Only a type: what the schema makes of a value. */
  readonly output?: T;
  readonly required: Required;
}

type ParamDefinitions = Record<string, ParamDefinition<unknown, boolean>>;

type ArgsOf<Definitions extends ParamDefinitions> = {
  [Name in keyof Definitions]: Definitions[Name] extends ParamDefinition<infer T, infer Required>
    ? Required extends true
      ? T
      : T | undefined
    : never;
};

export interface EntryDefinition<Definitions extends ParamDefinitions> {
  number: number | null;
  name: string;
  aliases?: string[];
  summary: string;
  /** In positional order. */
  params?: Definitions;
  /** Positional parameters are given to it before anything else looks at them; it must leave alone what it does not know. */
  arrange?(params: unknown[]): unknown[];
  rest?: RestTwin;
  submission?: boolean;
  invoke(api: Api, args: ArgsOf<Definitions>, caller?: Caller): Promise<Answer>;
}

export function required<T>(schema: ParamSchema<T> | ForkSchema<T>, description: string): ParamDefinition<T, true> {
  return { ...schemasOf(schema), required: true, each: false, description };
}

export function optional<T>(schema: ParamSchema<T> | ForkSchema<T>, description: string): ParamDefinition<T, false> {
  return { ...schemasOf(schema), required: false, each: false, description };
}

/** For the last parameter: one or more items, which may be spread over the rest of the positional parameters. */
export function each<T>(schema: ParamSchema<T> | ForkSchema<T>, description: string): ParamDefinition<T[], true> {
  return { ...schemasOf(schema), required: true, each: true, description };
}

function schemasOf<T>(schema: ParamSchema<T> | ForkSchema<T>): Pick<EntryParam, "schema" | "schemaFor"> {
  return "forConfig" in schema ? { schema: schema.form, schemaFor: schema.forConfig } : { schema };
}

export const get = (path: string): RestTwin => ({ verb: "GET", path });
export const post = (path: string): RestTwin => ({ verb: "POST", path });

/** An entry whose `invoke` is typed by its own parameters. */
export function defineEntry<Definitions extends ParamDefinitions = Record<never, never>>(
  definition: EntryDefinition<Definitions>,
): Entry {
  const { number, name, aliases = [], summary, arrange, rest = null, submission = false } = definition;
  const params: ParamDefinitions = definition.params ?? {};
  return {
    number,
    name,
    aliases,
    summary,
    params: Object.entries(params).map(([paramName, param]) => ({ name: paramName, ...param })),
    ...(arrange ? { arrange } : {}),
    rest,
    submission,
    // The binding fills `args` from these very schemas, which is what the definition's type says.
    invoke: definition.invoke as Entry["invoke"],
  };
}

/** A second name of a method that has a number of its own. */
export function anotherName(target: Entry, own: Pick<Entry, "number" | "name" | "summary" | "arrange">): Entry {
  return { ...target, ...own, aliases: [], rest: null, sameAs: target.name };
}
