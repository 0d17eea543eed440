import { expect, it, onTestFinished } from "vitest";
import { openTestServer } from "../../test/support/server/rest/server.ts";
import { AccessLog } from "./http/access-log.ts";

it("limits the rate and logs by the client behind a trusted proxy", async () => {
  let lines = "";
  const accessLog = new AccessLog((written) => {
    lines += written;
  });
  const server = await openTestServer({
    accessLog,
    access: { trustedProxies: ["127.0.0.0/8"] },
    limits: { requestsPerSecond: 1 },
  });
  onTestFinished(() => server.close());
  const ask = async (client: string) =>
    (await server.ask("/echo/a", { headers: { "X-Forwarded-For": `203.0.113.9, ${client}` } })).status;
  expect(await Promise.all(["198.51.100.1", "198.51.100.2", "198.51.100.1"].map(ask))).toEqual([200, 200, 429]);
  await server.close();
  const clients = lines
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).client);
  expect(clients.sort()).toEqual(["198.51.100.1", "198.51.100.1", "198.51.100.2"]);
});
