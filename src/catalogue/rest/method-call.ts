import { invalidParams } from "../../failure.ts";
import type { Answer, Method } from "../../server/method-table.ts";
import type { RestAnswer, RestRequest } from "../../server/rest/route-table.ts";
import type { Entry } from "../entry.ts";
import { Query } from "./query.ts";

/** A request as a call of the method that does the same. */
export function callMethod(entry: Entry, path: string, method: Method, request: RestRequest): Promise<Answer> {
  const isPost = entry.rest?.verb === "POST";
  return method.call({ ...fromHead(entry, request), ...(isPost ? fromBody(entry, path, request) : {}) });
}

/** What a submission says by its result, REST says by a status: a number is one, any other stands for success. */
export async function submit(
  entry: Entry,
  path: string,
  method: Method,
  request: RestRequest,
  takesList: boolean,
): Promise<RestAnswer> {
  // A client that has nothing to submit may say so; a call of the method has to hold something.
  if (takesList && isEmptyList(request.body)) return { status: 200 };
  const { body } = await callMethod(entry, path, method, request);
  const result: unknown = Buffer.isBuffer(body) ? JSON.parse(body.toString()) : true;
  return { status: typeof result === "number" ? result : 200 };
}

/** Parameters that REST has in headers. */
const HEADERS: Record<string, string> = {
  consensus_version: "eth-consensus-version",
  blob_data_included: "eth-blob-data-included",
};

/** Parameters that are true or false; one of them is also set by being there. */
const TRUTHS: Record<string, Record<string, boolean>> = {
  skip_randao_verification: { "": true, true: true, false: false },
  blob_data_included: { true: true, false: false },
};

function fromHead(entry: Entry, { params, query: text, headers }: RestRequest): Record<string, unknown> {
  const query = new Query(text);
  const given: Record<string, unknown> = {};
  for (const { name } of entry.params) {
    const header = HEADERS[name];
    const value = params[name] ?? (header === undefined ? query.one(name) : headers[header]?.toLowerCase());
    if (value !== undefined) given[name] = TRUTHS[name]?.[value] ?? value;
  }
  return given;
}

/** The body is the first parameter that the path does not hold. */
function fromBody(entry: Entry, path: string, { body, bodyFormat }: RestRequest): Record<string, unknown> {
  const param = entry.params.find(({ name }) => !path.includes(`{${name}}`));
  return param && bodyFormat === "json" ? { [param.name]: parseJson(body ?? Buffer.alloc(0)) } : {};
}

export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (cause) {
    throw invalidParams("The body is not valid JSON.", { cause });
  }
}

function isEmptyList(body: Buffer | undefined): boolean {
  return body !== undefined && body.length < 100 && /^\s*\[\s*\]\s*$/.test(body.toString());
}
