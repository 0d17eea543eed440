import fc from "fast-check";
import type { MethodDefinition } from "../../../src/api/definition.ts";
import { type Edit, edit, edited } from "../../property/mutation.ts";
import { type RestCall, restCall } from "../../rest/rest-request.ts";

/** Method with valid parameters. */
export interface Callable {
  method: MethodDefinition;
  params: unknown[];
}

/** Request with its target server. */
export type FuzzedRequest =
  | { to: "json-rpc"; body: Buffer }
  | { to: "websocket"; body: Buffer; binary: boolean }
  | { to: "rest"; verb: string; path: string; headers: Record<string, string>; body?: Buffer }
  /** Raw bytes instead of HTTP. */
  | { to: "socket"; server: "json-rpc" | "rest"; bytes: Buffer };

/** Mutation of bytes. */
type ByteEdit = { at: number } & (
  | { kind: "set"; by: Uint8Array }
  | { kind: "cut" }
  | { kind: "repeat"; length: number }
);

const byteEdit: fc.Arbitrary<ByteEdit> = fc.oneof(
  fc.record({ kind: fc.constant("set" as const), at: fc.nat(), by: fc.uint8Array({ minLength: 1, maxLength: 4 }) }),
  fc.record({
    kind: fc.constant("set" as const),
    at: fc.nat(),
    by: fc.constantFrom(
      ...['"', "\\", "[", "}", ",", "1e999", "-0", "\\u0000", "\r\n"].map((text) => Buffer.from(text)),
    ),
  }),
  fc.record({ kind: fc.constant("cut" as const), at: fc.nat() }),
  fc.record({ kind: fc.constant("repeat" as const), at: fc.nat(), length: fc.integer({ min: 1, max: 200 }) }),
);

function editedBytes(bytes: Buffer, edits: readonly ByteEdit[]): Buffer {
  let result = bytes;
  for (const change of edits) {
    const at = change.at % (result.length + 1);
    const [before, after] = [result.subarray(0, at), result.subarray(at)];
    if (change.kind === "cut") result = before;
    else if (change.kind === "repeat") result = Buffer.concat([before, after.subarray(0, change.length), after]);
    else result = Buffer.concat([before, change.by, after.subarray(change.by.length)]);
  }
  return result;
}

/** Request members, some missing or invalid. */
function envelopes(names: readonly string[]): fc.Arbitrary<object> {
  const anything = fc.jsonValue({ maxDepth: 2 });
  return fc.record(
    {
      jsonrpc: fc.oneof({ weight: 5, arbitrary: fc.constant("2.0") }, anything),
      id: fc.oneof(fc.nat(), fc.string(), fc.constant(null), anything),
      method: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...names) }, fc.string(), anything),
      params: fc.oneof(fc.array(anything), fc.dictionary(fc.string(), anything), anything),
      meta: anything,
    },
    { requiredKeys: [] },
  );
}

const textOf = (value: unknown) => Buffer.from(JSON.stringify(value));

/** Requests of every kind to every server, from random bytes to nearly valid ones. */
export function fuzzedRequests(callables: readonly Callable[]): fc.Arbitrary<FuzzedRequest> {
  const names = callables.map(({ method }) => method.name);
  const edits = fc.array(edit, { maxLength: 3 });
  const byteEdits = fc.array(byteEdit, { minLength: 1, maxLength: 4 });

  const call = fc
    .record({ callable: fc.constantFrom(...callables), edits, byName: fc.boolean(), id: fc.nat() })
    .map(({ callable, edits: changes, byName, id }) => callOf(callable, changes, byName, id));
  const envelope = envelopes(names);
  const element = fc.oneof({ weight: 3, arbitrary: call }, { weight: 1, arbitrary: envelope });
  const batch = fc.array(element, { maxLength: 8 });
  const message = fc.oneof(
    { weight: 8, arbitrary: call.map(textOf) },
    { weight: 2, arbitrary: envelope.map(textOf) },
    { weight: 1, arbitrary: batch.map(textOf) },
    {
      weight: 3,
      arbitrary: fc.tuple(element.map(textOf), byteEdits).map(([body, changes]) => editedBytes(body, changes)),
    },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
  );

  const jsonRpc = message.map((body): FuzzedRequest => ({ to: "json-rpc", body }));
  const webSocket = fc
    .record({ body: message, binary: fc.boolean() })
    .map((given): FuzzedRequest => ({ to: "websocket", ...given }));
  const rest = restRequests(callables);
  const socket = fc
    .record({
      server: fc.constantFrom("json-rpc" as const, "rest" as const),
      request: fc.oneof(jsonRpc, rest),
      byteEdits,
    })
    .map(({ server, request, byteEdits: changes }): FuzzedRequest => {
      return { to: "socket", server, bytes: editedBytes(httpText(request), changes) };
    });
  return fc.oneof(
    { weight: 8, arbitrary: jsonRpc },
    { weight: 6, arbitrary: rest },
    { weight: 3, arbitrary: webSocket },
    { weight: 1, arbitrary: socket },
  );
}

function callOf({ method, params }: Callable, edits: readonly Edit[], byName: boolean, id: number): object {
  const given = edited(params, edits);
  const named = () =>
    Object.fromEntries(method.params.slice(0, given.length).map(({ name }, position) => [name, given[position]]));
  return { jsonrpc: "2.0", id, method: method.name, params: byName ? named() : given };
}

const HEADERS: Readonly<Record<string, readonly string[]>> = {
  Accept: [
    "application/json",
    "application/octet-stream",
    "text/event-stream",
    "*/*;q=0",
    "application/octet-stream;q=2",
    "",
  ],
  "Content-Type": ["application/json", "application/octet-stream", "text/plain", "x"],
  "Eth-Consensus-Version": ["phase0", "altair", "electra", "fulu", "gloas", "PHASE0", ""],
  "Accept-Encoding": ["gzip", "identity;q=0", "br"],
  "Content-Encoding": ["gzip", "identity"],
  "If-None-Match": ["*", '"x"', 'W/"x"', "x"],
};

function restRequests(callables: readonly Callable[]): fc.Arbitrary<FuzzedRequest> {
  const withPath = callables.filter(({ method }) => method.rest.length > 0);
  const headers = fc.dictionary(fc.constantFrom(...Object.keys(HEADERS)), fc.nat(), { maxKeys: 3 });
  return fc
    .record({
      callable: fc.constantFrom(...withPath),
      edits: fc.array(edit, { maxLength: 2 }),
      byteEdits: fc.array(byteEdit, { maxLength: 2 }),
      editsPath: fc.integer({ min: 0, max: 3 }).map((number) => number === 0),
      headers,
      bytes: fc.option(fc.uint8Array({ maxLength: 400 }), { freq: 4, nil: undefined }),
    })
    .map(({ callable: { method, params }, edits, byteEdits, editsPath, headers: chosen, bytes }): FuzzedRequest => {
      const { verb, path, headers: own, body } = restRequestOf(method, params, edits);
      const added = Object.entries(chosen).map(([name, at]) => [name, HEADERS[name]![at % HEADERS[name]!.length]!]);
      const sent = bytes ? Buffer.from(bytes) : body === undefined ? undefined : Buffer.from(body);
      return {
        to: "rest",
        verb,
        path: printable(editsPath ? editedBytes(Buffer.from(path), byteEdits).toString("latin1") : path),
        headers: { ...sendable(own), ...Object.fromEntries(added) },
        body: sent && editedBytes(sent, editsPath ? [] : byteEdits),
      };
    });
}

/** Skips parameters that cannot be encoded, such as an object with a wrong `toString`. */
function restRequestOf(method: MethodDefinition, params: unknown[], edits: readonly Edit[]): RestCall {
  try {
    return restCall(method, edited(params, edits), "fulu");
  } catch {
    return restCall(method, params, "fulu");
  }
}

/** True for paths that an HTTP client can send. Others use raw sockets. */
const printable = (path: string) =>
  path
    .replaceAll(/[^\x21-\xff]/g, "+")
    .replace(/^[^/]*/, "")
    .padStart(1, "/");

function sendable(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replaceAll(/[^\x20-\x7e]/g, "?")]),
  );
}

function httpText(request: FuzzedRequest): Buffer {
  if (request.to !== "rest") {
    const body = request.to === "socket" ? request.bytes : request.body;
    return Buffer.concat([Buffer.from(headText("POST", "/", {}, body.length)), body]);
  }
  const { verb, path, headers, body = Buffer.alloc(0) } = request;
  return Buffer.concat([Buffer.from(headText(verb, path, headers, body.length)), body]);
}

function headText(verb: string, path: string, headers: Record<string, string>, length: number): string {
  const all = { Host: "127.0.0.1", "Content-Type": "application/json", ...headers, "Content-Length": String(length) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `${verb} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
}
