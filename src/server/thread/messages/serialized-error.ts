import { inspect } from "node:util";
import { Failure } from "../../../errors/failure.ts";
import { JsonLimitError, JsonParseError } from "../../../json/parse.ts";
import { HttpError } from "../../http/http-error.ts";
import type { SerializedError } from "./protocol.ts";

/** Serializes an error for transfer to another thread. */
export function serializeError(thrown: unknown): SerializedError {
  if (thrown instanceof Failure) {
    const { kind: failure, message, detail, failures, rpc } = thrown;
    return { failure, message, detail, failures, rpc };
  }
  if (thrown instanceof HttpError) {
    const { status, message, headers } = thrown;
    return { status, message, headers };
  }
  if (thrown instanceof JsonLimitError) return { aboveLimit: thrown.message };
  if (thrown instanceof JsonParseError) return { unreadable: thrown.message };
  return { unexpected: thrown instanceof Error ? thrown.message : String(thrown), stack: inspect(thrown) };
}

/** Restores an error. Unexpected errors keep their original stack. */
export function deserializeError(thrown: SerializedError): Error {
  if ("failure" in thrown) return new Failure(thrown.failure, thrown.message, thrown);
  if ("status" in thrown) return new HttpError(thrown.status, thrown.message, thrown.headers);
  if ("aboveLimit" in thrown) return new JsonLimitError(thrown.aboveLimit);
  if ("unreadable" in thrown) return new JsonParseError(thrown.unreadable);
  const error = new Error(thrown.unexpected);
  error.stack = thrown.stack;
  return error;
}
