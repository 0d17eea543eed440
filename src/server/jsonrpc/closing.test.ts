import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { createSignal } from "../../../test/support/server/http/http.ts";
import { json, openTestServer, requestText } from "../../../test/support/server/jsonrpc/server.ts";

function createGatedCall() {
  const called = createSignal();
  const go = createSignal();
  return {
    called: called.promise,
    go: go.trigger,
    call: async () => {
      called.trigger();
      await go.promise;
      return json("finished");
    },
  };
}

it("waits for a running call, accepts no new ones, and closes its connection", async () => {
  const gated = createGatedCall();
  const server = await openTestServer({ handlers: { gated: gated.call } });
  const agent = new Agent({ keepAlive: true });
  const outgoing = request(server.url, { method: "POST", agent, headers: { "Content-Type": "application/json" } });
  outgoing.end(requestText({ method: '"gated"' }));
  await gated.called;
  const closed = server.close();
  await expect(server.post(requestText({}))).rejects.toMatchObject({ code: "ECONNREFUSED" });
  gated.go();
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  expect(incoming.headers.connection).toBe("close");
  expect(await text(incoming)).toBe('{"jsonrpc":"2.0","id":1,"result":"finished"}');
  await closed;
  agent.destroy();
});

it("waits for a running stream", async () => {
  const go = createSignal();
  const server = await openTestServer({
    handlers: {
      slow: async () => ({
        body: (async function* () {
          yield Buffer.from("[1,");
          await go.promise;
          yield Buffer.from("2]");
        })(),
      }),
    },
  });
  const agent = new Agent({ keepAlive: true });
  const outgoing = request(server.url, { method: "POST", agent, headers: { "Content-Type": "application/json" } });
  outgoing.end(requestText({ method: '"slow"' }));
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  const closed = server.close();
  go.trigger();
  expect(await text(incoming)).toBe('{"jsonrpc":"2.0","id":1,"result":[1,2]}');
  await closed;
  agent.destroy();
});

it("waits for a running call of a disconnected client", async () => {
  const gated = createGatedCall();
  const server = await openTestServer({ handlers: { gated: gated.call } });
  const outgoing = request(server.url, {
    method: "POST",
    agent: false,
    headers: { "Content-Type": "application/json" },
  });
  outgoing.on("error", () => {});
  outgoing.end(requestText({ method: '"gated"' }));
  await gated.called;
  outgoing.destroy();
  const order: string[] = [];
  const closed = server.close().then(() => order.push("closed"));
  await expect(server.post(requestText({}))).rejects.toMatchObject({ code: "ECONNREFUSED" });
  order.push("finished");
  gated.go();
  await closed;
  expect(order).toEqual(["finished", "closed"]);
});

it("is not delayed by idle connections and incomplete requests", async () => {
  // The time for which closing waits for requests is longer than the test may take.
  const server = await openTestServer({ limits: { closeMillis: 600_000 } });
  const idle = connect(server.port, "127.0.0.1");
  const halfway = connect(server.port, "127.0.0.1");
  const used = connect(server.port, "127.0.0.1");
  const sockets = [idle, halfway, used];
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  const body = requestText({});
  const head = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  halfway.write(`${head}{`);
  used.write(head + body);
  await once(used, "data");
  const ends = sockets.map((socket) => {
    socket.on("error", () => {});
    return once(socket, "close");
  });
  for (const socket of sockets) socket.resume();
  await server.close();
  await Promise.all(ends);
});

it("waits for a running call also when it is closed again", async () => {
  const gated = createGatedCall();
  const server = await openTestServer({ handlers: { gated: gated.call } });
  const replied = server.post(requestText({ method: '"gated"' }));
  await gated.called;
  const order: string[] = [];
  const closes = ["first", "second"].map((which) => server.close().then(() => order.push(which)));
  await expect(server.post(requestText({}))).rejects.toMatchObject({ code: "ECONNREFUSED" });
  order.push("finished");
  gated.go();
  await Promise.all([replied, ...closes]);
  expect(order).toEqual(["finished", "first", "second"]);
  await expect(server.close()).resolves.toBeUndefined();
});
