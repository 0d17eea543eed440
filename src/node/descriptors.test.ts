import { expect, test } from "vitest";
import { createRecordingLogger } from "../log/recording-logger.test-support.ts";
import { withinDescriptors } from "./descriptors.ts";
import { DEFAULT_SERVER_LIMITS } from "./server-limits.ts";

const listening = { host: "127.0.0.1", port: 0 };
const ONE = { servers: { jsonRpc: listening }, networking: undefined };
const BOTH = { servers: { jsonRpc: listening, rest: listening }, networking: undefined };
const NETWORKED = {
  ...BOTH,
  networking: { address: "127.0.0.1", port: 0, discovery: false, bootnodes: [], directPeers: [], targetPeers: 50 },
};

/** As Linux writes them. */
const limits = (soft: string) => `Limit                     Soft Limit           Hard Limit           Units
Max processes             127235               127235               processes
Max open files            ${soft.padEnd(20)} 1048576              files
`;

async function within(users: typeof ONE | typeof NETWORKED, soft: string) {
  const logger = createRecordingLogger();
  const servers = await withinDescriptors(users, logger, async () => limits(soft));
  return { connections: servers.limits?.connections, told: logger.records.map(({ level }) => level) };
}

test("a system that allows enough changes nothing", async () => {
  expect(await within(BOTH, "1048576")).toEqual({ connections: undefined, told: [] });
  expect(await within(BOTH, "unlimited")).toEqual({ connections: undefined, told: [] });
  const logger = createRecordingLogger();
  expect(await withinDescriptors(ONE, logger, () => Promise.reject(new Error("ENOENT")))).toBe(ONE.servers);
  expect(logger.records).toEqual([]);
});

test("what the system allows is shared by the servers after all others, and told", async () => {
  const [one, both, networked] = [
    await within(ONE, "8000"),
    await within(BOTH, "8000"),
    await within(NETWORKED, "8000"),
  ];
  for (const { told } of [one, both, networked]) expect(told).toEqual(["info"]);
  expect(one.connections).toBeLessThan(Math.min(8000, DEFAULT_SERVER_LIMITS.connections));
  expect(both.connections).toBe(Math.floor(one.connections! / 2));
  expect(networked.connections).toBeLessThan(both.connections!);
});

test("however little it allows, some connections are left, with a warning", async () => {
  const { connections, told } = await within(NETWORKED, "256");
  expect(connections).toBeGreaterThan(0);
  expect(told).toEqual(["warn"]);
});
