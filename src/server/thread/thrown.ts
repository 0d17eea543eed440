import { inspect } from "node:util";
import { Failure } from "../../errors/failure.ts";
import { JsonParseError } from "../../json/parse.ts";
import { HttpRefusal } from "../http/refusal.ts";
import type { Thrown } from "./protocol.ts";

/** What was thrown in one thread, in a form that goes to another. */
export function passThrown(thrown: unknown): Thrown {
  if (thrown instanceof Failure) {
    const { kind: failure, message, detail, failures } = thrown;
    return { failure, message, detail, failures };
  }
  if (thrown instanceof HttpRefusal) {
    const { status, message, headers } = thrown;
    return { status, message, headers };
  }
  if (thrown instanceof JsonParseError) return { unreadable: thrown.message };
  return { unexpected: thrown instanceof Error ? thrown.message : String(thrown), stack: inspect(thrown) };
}

/** The same error again; one that nobody foresaw keeps the stack of where it was thrown. */
export function receiveThrown(thrown: Thrown): Error {
  if ("failure" in thrown) return new Failure(thrown.failure, thrown.message, thrown);
  if ("status" in thrown) return new HttpRefusal(thrown.status, thrown.message, thrown.headers);
  if ("unreadable" in thrown) return new JsonParseError(thrown.unreadable);
  const error = new Error(thrown.unexpected);
  error.stack = thrown.stack;
  return error;
}
