import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Client } from "../../../../test/support/server/jsonrpc/websocket/client.ts";
import { LARGE_BYTES } from "../../../../test/support/server/thread/test-api.ts";
import { TestServers } from "../../../../test/support/server/thread/test-servers.ts";

const servers = new TestServers();
const { api, call, fetch, post } = servers;
beforeAll(() => servers.start());
afterAll(() => servers.close());

it("returns results of main-thread methods of any size and kind", async () => {
  const params = { text: "é😀\ud800", deep: [[{}], null, true], __proto__: 1 };
  expect((await call("echo", params)).result).toEqual(params);
  const many = Array.from({ length: 20_000 }, (_, index) => `${index} é`);
  expect((await call("echo", [many])).result).toEqual([many]);
  expect((await call("echo", { many })).result).toEqual({ many });
  expect((await call("echo", undefined, { unknown: many })).result).toEqual([]);
  const irregular = '{"jsonrpc":"2.0","id":1,"method":"echo","params":[1.50,18446744073709551615,-0]}';
  expect(await post(irregular)).toBe('{"jsonrpc":"2.0","id":1,"result":[1.50,18446744073709551615,-0]}');
  const echo = async (params: string) => post(`{"id":1, ${params} ,"jsonrpc":"2.0","method":"echo"}`);
  const resultOf = (result: string) => `{"jsonrpc":"2.0","id":1,"result":${result}}`;
  expect(await echo('"params" : [ "]" , {"é":"\\u00e9"} ]')).toBe(resultOf('["]",{"é":"é"}]'));
  expect(await echo('"params":[1],"p\\u0061rams":[2]')).toBe(resultOf("[2]"));
  expect(await echo('"meta":[3]')).toBe(resultOf("[]"));
  expect((await call("described", [1, 2], { meta: true })).meta).toEqual({ finalized: true });
  expect(((await call("large")).result as string).length).toBe(LARGE_BYTES / 2);
  expect((await call("stream")).result).toEqual([1, 2]);
});

it("parses only the outline of a large message and reports errors in the rest", async () => {
  const postJson = async (body: string) => JSON.parse(await post(body));
  const many = `[${"[1],".repeat(50_000)}0]`;
  const twice = await post(`{"jsonrpc":"2.0","id":"a\\u0062","method":"echo","params":[],"p\\u0061rams":[${many}]}`);
  expect(twice).toBe(`{"jsonrpc":"2.0","id":"ab","result":[${many}]}`);
  const unreadable = await postJson(`{"jsonrpc":"2.0","id":7,"method":"echo","params":[${many},]}`);
  expect(unreadable).toMatchObject({ id: null, error: { code: -32700 } });
  const unknown = await postJson(`{"jsonrpc":"2.0","id":7,"method":"ecko","params":[${many},]}`);
  expect(unknown).toMatchObject({ id: 7, error: { code: -32601 } });
  const long = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"echo","params":[${id},${many}]}`;
  const results = [8, 9].map((id) => `{"jsonrpc":"2.0","id":${id},"result":[${id},${many}]}`);
  const batch = await post(`[${long(8)},${long(9)},7]`);
  const isAnswered = batch.startsWith(`[${results.join(",")},`);
  expect(isAnswered).toBe(true);
  expect(JSON.parse(batch)).toHaveLength(3);
  expect(JSON.parse(batch)[2]).toMatchObject({ id: null, error: { code: -32600 } });
});

it("serves bodies from shared memory and releases them", async () => {
  const balances = ["0", "1", "2"].map((index) => ({ index, balance: index }));
  expect((await call("shared")).result).toEqual(balances);
  await api.sharedReleased.promise;
});

it("forwards failures, and logs unexpected errors with their stacks in the main thread", async () => {
  expect((await call("fail")).error).toEqual({
    code: -32003,
    message: "It failed.",
    data: { status: 400, detail: "All of it.", failures: [{ index: 1, message: "No." }] },
  });
  expect((await call("broken")).error?.message).toBe("The stream broke.");
  await expect(call("brokenLate")).rejects.toThrow();
  expect((await call("crash")).error?.message).toBe("Internal error");
  // Log records arrive before the calls made after them.
  await call("echo");
  const logged = servers.log.find(
    ({ message, fields }) => message.includes("unexpectedly") && fields?.method === "crash",
  );
  expect(logged?.fields?.error).toMatch(/a secret of the node\n {4}at .*test-api/);
  expect((await call("ecko")).error?.message).toContain('Did you mean "echo"?');
});

it("applies backpressure to a stream and closes it when the reader disconnects", async () => {
  const { hostname, port } = new URL(servers.rpcUrl);
  const socket = connect(Number(port), hostname);
  const body = '{"jsonrpc":"2.0","id":1,"method":"endless"}';
  socket.write(
    `POST / HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await once(socket, "data");
  socket.pause();
  // The stream is idle once a call completes without another chunk.
  let pulled: number;
  do {
    pulled = api.chunksPulled;
    for (let turn = 0; turn < 20; turn++) await call("echo");
  } while (api.chunksPulled > pulled);
  // The socket buffers hold a few megabytes.
  expect(api.chunksPulled).toBeLessThan(1000);
  socket.destroy();
  await api.endlessClosed.promise;
});

it("cancels a method when its caller disconnects", async () => {
  const client = await Client.connect(servers.rpcUrl);
  void client.call("waits");
  await client.call("echo");
  client.socket.terminate();
  await api.cancelled.promise;
});

it("forwards REST requests unchanged", async () => {
  const about = await fetch("/about/a%20b?c=d", { headers: { "Eth-Custom": "e" } });
  expect(JSON.parse(about.text)).toEqual({ data: { params: { name: "a b" }, query: "c=d", custom: "e" } });
  const tag = about.headers.etag as string;
  expect((await fetch("/about/a%20b?c=d", { headers: { "If-None-Match": tag } })).status).toBe(304);
  const postAs = (type: string) => fetch("/body", { method: "POST", headers: { "Content-Type": type }, body: "[1]" });
  expect(JSON.parse((await postAs("application/json")).text)).toEqual({ data: ["json", "[1]"] });
  expect((await postAs("text/plain")).status).toBe(415);
  expect((await fetch("/stream")).text).toBe('{"data":[1,2]}');
});
