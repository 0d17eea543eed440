import { expect, test } from "vitest";
import { createRecordingLogger } from "../log/recording-logger.test-support.ts";
import { neededDescriptors, warnOfFewDescriptors } from "./descriptors.ts";

const listening = { host: "127.0.0.1", port: 0 };
const USERS = { servers: { jsonRpc: listening }, networking: undefined };

/** As Linux writes them. */
const limits = (soft: string) => `Limit                     Soft Limit           Hard Limit           Units
Max processes             127235               127235               processes
Max open files            ${soft.padEnd(20)} 1048576              files
`;

async function warnings(soft: string) {
  const logger = createRecordingLogger();
  await warnOfFewDescriptors(USERS, logger, async () => limits(soft));
  return logger.records;
}

test("a limit below what the parts of the node need together is warned of", async () => {
  const needed = neededDescriptors(USERS);
  expect(await warnings(String(needed))).toEqual([]);
  expect(await warnings("unlimited")).toEqual([]);
  expect(await warnings("1024")).toMatchObject([{ level: "warn", fields: { allowed: 1024, needed } }]);
});

test("every part that is turned on needs more, and a system that tells no limit is left alone", async () => {
  const networking = {
    address: "127.0.0.1",
    port: 0,
    discovery: false,
    bootnodes: [],
    directPeers: [],
    targetPeers: 50,
  };
  const counts = [
    { servers: {}, networking: undefined },
    USERS,
    { servers: { jsonRpc: listening, rest: listening }, networking: undefined },
    { servers: { jsonRpc: listening, rest: listening }, networking },
  ].map(neededDescriptors);
  expect(counts).toEqual([...new Set(counts)].sort((a, b) => a - b));
  const logger = createRecordingLogger();
  await warnOfFewDescriptors(USERS, logger, () => Promise.reject(new Error("ENOENT")));
  expect(logger.records).toEqual([]);
});
