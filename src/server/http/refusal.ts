import { thrownError } from "../jsonrpc/errors.ts";
import type { RestAnswer } from "../rest/route-table.ts";

export const JSON_MEDIA_TYPE = "application/json";

/** A refusal that only HTTP knows, such as 406 or 415. */
export class RestRefusal extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.name = "RestRefusal";
    this.status = status;
    this.headers = headers;
  }
}

/** The standard's error body, with the status that belongs to what was thrown. */
export function refusalAnswer(thrown: unknown): RestAnswer {
  if (thrown instanceof RestRefusal) return errorAnswer(thrown.status, { message: thrown.message }, thrown.headers);
  const { message, data } = thrownError(thrown);
  return errorAnswer(data.status, { message, failures: data.failures });
}

function errorAnswer(
  status: number,
  { message, failures }: { message: string; failures?: unknown },
  headers?: Record<string, string>,
): RestAnswer {
  // Without failures the member does not appear in the encoded object.
  const body = Buffer.from(JSON.stringify({ code: status, message, failures }));
  return { status, headers, content: { mediaType: JSON_MEDIA_TYPE, parts: [body] } };
}
