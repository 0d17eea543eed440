import { expect, it } from "vitest";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { limitConnections } from "./connection-limits.ts";
import { DEFAULT_SERVER_LIMITS } from "./server-limits.ts";

const listening = { host: "127.0.0.1", port: 0 };
const ONE = { servers: { jsonRpc: listening }, networking: undefined };
const BOTH = { servers: { jsonRpc: listening, rest: listening }, networking: undefined };
const NETWORKED = {
  ...BOTH,
  networking: {
    address: "127.0.0.1",
    port: 0,
    discovery: false,
    bootnodes: [],
    directPeers: [],
    targetPeers: 50,
    supernode: false,
  },
};

/** Format of /proc/self/limits. */
const limits = (soft: string) => `Limit                     Soft Limit           Hard Limit           Units
Max processes             127235               127235               processes
Max open files            ${soft.padEnd(20)} 1048576              files
`;

async function within(users: typeof ONE | typeof NETWORKED, soft: string) {
  const logger = createRecordingLogger();
  const servers = await limitConnections(users, logger, async () => limits(soft));
  return { connections: servers.limits?.connections, logged: logger.records.map(({ level }) => level) };
}

it("changes nothing if the descriptor limit suffices", async () => {
  expect(await within(BOTH, "1048576")).toEqual({ connections: undefined, logged: [] });
  expect(await within(BOTH, "unlimited")).toEqual({ connections: undefined, logged: [] });
  const logger = createRecordingLogger();
  expect(await limitConnections(ONE, logger, () => Promise.reject(new Error("ENOENT")))).toBe(ONE.servers);
  expect(logger.records).toEqual([]);
});

it("divides the remaining descriptors between the servers, and logs it", async () => {
  const [one, both, networked] = [
    await within(ONE, "8000"),
    await within(BOTH, "8000"),
    await within(NETWORKED, "8000"),
  ];
  for (const { logged } of [one, both, networked]) expect(logged).toEqual(["info"]);
  expect(one.connections).toBeLessThan(Math.min(8000, DEFAULT_SERVER_LIMITS.connections));
  expect(both.connections).toBe(Math.floor(one.connections! / 2));
  expect(networked.connections).toBeLessThan(both.connections!);
});

it("does not warn at a default start with 4096 descriptors", async () => {
  const all = { servers: { jsonRpc: listening, ethRpc: listening, rest: listening }, networking: undefined };
  for (const users of [all, NETWORKED]) expect((await within(users, "4096")).logged).toEqual(["info"]);
});

it("keeps a minimum of connections, with a warning", async () => {
  const { connections, logged } = await within(NETWORKED, "256");
  expect(connections).toBeGreaterThan(0);
  expect(logged).toEqual(["warn"]);
});
