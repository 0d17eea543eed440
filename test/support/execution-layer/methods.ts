import type { z } from "zod";
import { JsonRpcError } from "./json-rpc-error.ts";

/** Handles a call with positional parameters. */
export type Method = (params: readonly unknown[]) => unknown;
export type Methods = Readonly<Record<string, Method>>;

/** Parses a parameter. Throws an error with the code if it is invalid. */
export function read<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: string,
  code: -32602 | -38003 = -32602,
): z.infer<Schema> {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  throw new JsonRpcError(code, `${[what, ...issue!.path].join(".")}: ${issue!.message}`);
}
