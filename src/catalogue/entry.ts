import type { z } from "zod";
import type { Api } from "../api/api.ts";
import type { Answer } from "../server/method-table.ts";
import type { ParamSchema } from "./params/schema.ts";

export interface RestTwin {
  verb: "GET" | "POST";
  path: string;
}

export interface EntryParam {
  readonly name: string;
  readonly schema: z.ZodType;
  readonly required: boolean;
  readonly description: string;
}

/** One method that can be asked. Whatever lists methods is derived from entries. */
export interface Entry {
  /** The method's place in the interface document's numbering; null for a method that it does not number. */
  readonly number: number | null;
  readonly name: string;
  /** Other names that answer exactly like this one. */
  readonly aliases: readonly string[];
  /** One line. */
  readonly summary: string;
  /** In positional order; the names are those of by-name calls. */
  readonly params: readonly EntryParam[];
  /** The standard's HTTP operation with the same result, if there is one. */
  readonly rest: RestTwin | null;
  /** Submissions change the node. */
  readonly submission: boolean;
  /** `args` holds what the schemas of `params` made of a call's parameters, by name. */
  invoke(api: Api, args: Record<string, unknown>): Promise<Answer>;
}

interface ParamDefinition<T, Required extends boolean> {
  schema: ParamSchema<T>;
  required: Required;
  description: string;
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
  rest?: RestTwin;
  submission?: boolean;
  invoke(api: Api, args: ArgsOf<Definitions>): Promise<Answer>;
}

export function required<T>(schema: ParamSchema<T>, description: string): ParamDefinition<T, true> {
  return { schema, required: true, description };
}

export function optional<T>(schema: ParamSchema<T>, description: string): ParamDefinition<T, false> {
  return { schema, required: false, description };
}

export const get = (path: string): RestTwin => ({ verb: "GET", path });

/** An entry whose `invoke` is typed by its own parameters. */
export function defineEntry<Definitions extends ParamDefinitions = Record<never, never>>(
  definition: EntryDefinition<Definitions>,
): Entry {
  const { number, name, aliases = [], summary, rest = null, submission = false } = definition;
  const params: ParamDefinitions = definition.params ?? {};
  return {
    number,
    name,
    aliases,
    summary,
    params: Object.entries(params).map(([paramName, param]) => ({ name: paramName, ...param })),
    rest,
    submission,
    // The binding fills `args` from these very schemas, which is what the definition's type says.
    invoke: definition.invoke as Entry["invoke"],
  };
}
