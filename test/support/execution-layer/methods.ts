import type { z } from "zod";
import { JsonRpcError } from "./json-rpc-error.ts";

/** Answers a call: the parameters as they came, by position. */
export type Method = (params: readonly unknown[]) => unknown;
export type Methods = Readonly<Record<string, Method>>;

/** A value of a call, refused with the code when it is not as it should be. */
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
