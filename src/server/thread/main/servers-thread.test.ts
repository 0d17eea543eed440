import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { createRecordingLogger } from "../../../../test/support/log/recording-logger.ts";
import { send } from "../../../../test/support/server/http/http.ts";
import { ANY_PORT, TestServers } from "../../../../test/support/server/thread/test-servers.ts";
import { ListenError } from "../../listen-error.ts";
import { ServersThread } from "./servers-thread.ts";

const servers = new TestServers();
const { api, call } = servers;
beforeAll(() => servers.start());
afterAll(() => servers.close());

it("reports calls, loads and event loop delay", async () => {
  await call("echo");
  await servers.thread.refresh();
  servers.calls.length = 0;
  await call("fail");
  await servers.thread.refresh();
  expect(servers.calls.filter(({ method }) => method === "fail")).toMatchObject([
    { server: "json-rpc", begun: 1, seconds: [expect.any(Number)], errorCodes: [-32003] },
  ]);
  expect(Array.from(servers.thread.loads, ([server]) => server)).toEqual(["json-rpc", "rest"]);
  while (servers.thread.lag?.max === 0) {
    for (let turn = 0; turn < 10; turn++) await call("echo");
    await servers.thread.refresh();
  }
  expect(servers.thread.lag?.max).toBeGreaterThanOrEqual(servers.thread.lag!.p50);
});

it("forwards access log lines, the last of them before it is closed", async () => {
  const logged = new ServersThread(createRecordingLogger([]), { servesRest: true });
  let lines = "";
  const urls = await logged.serve(api.served, {
    listen: { rest: ANY_PORT },
    writeAccess: (more) => {
      lines += more;
    },
  });
  await send(urls.rest!, { path: "/stream" });
  await logged.close();
  expect(JSON.parse(lines)).toMatchObject({
    server: "rest",
    request: "GET /stream",
    status: 200,
    methods: ["/stream"],
  });
});

it("reports which server cannot listen, and why", async () => {
  const second = new ServersThread(createRecordingLogger([]), { servesRest: true });
  onTestFinished(() => second.close());
  const taken = { host: "127.0.0.1", port: Number(new URL(servers.restUrl).port) };
  const refused = await second
    .serve(api.served, { listen: { "json-rpc": ANY_PORT, rest: taken } })
    .catch((error) => error);
  expect(refused).toBeInstanceOf(ListenError);
  expect(refused).toMatchObject({ server: "rest", code: "EADDRINUSE" });
});

it("reports an unexpected end of the thread and cancels its calls", async () => {
  const dying = new ServersThread(
    createRecordingLogger([]),
    { servesRest: false },
    () => new Worker("setTimeout(() => { throw new Error('no memory'); })", { eval: true }),
  );
  const listening = dying.serve(api.served, { listen: { "json-rpc": ANY_PORT } });
  await expect(listening).rejects.toThrow("The server thread ended unexpectedly");
  expect((await dying.failed).message).toContain("no memory");
  await dying.close();
});
