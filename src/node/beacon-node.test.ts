import { expect, test, vi } from "vitest";
import { openDevChain, QUIET } from "../../test/support/dev-chain.ts";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { createRecordingLogger } from "../log/recording-logger.test-support.ts";
import { BeaconNode } from "./beacon-node.ts";

const OPTIONS = { ...QUIET, validators: 8 };

test("a node is closed once: its clock, then what works on it, then its own parts, the last opened first", async () => {
  const { node, devChain } = await openDevChain(OPTIONS);
  const order: string[] = [];
  const note = (target: { close(): Promise<void> }, name: string) => {
    const close = target.close.bind(target);
    vi.spyOn(target, "close").mockImplementation(async () => {
      await close();
      order.push(name);
    });
  };
  note(node.chain, "chain");
  note(node.db, "database");
  node.own({ close: () => void order.push("first of ours") });
  node.own({ close: () => void order.push("second of ours") });
  const waiting = expect(devChain.clock.untilSlot(9).finally(() => order.push("clock"))).rejects.toThrow("stopped");
  await Promise.all([node.close(), node.close()]);
  await waiting;
  expect(order).toEqual(["clock", "second of ours", "first of ours", "chain", "database"]);
});

test("a node that cannot be opened as a whole leaves its data directory to others", async () => {
  const dataDir = tempDirectory();
  const { node, close } = await openDevChain(OPTIONS, dataDir);
  const { config, clock, engine } = node.source;
  await close();

  const options = { dataDir, waitForDisk: false, logger: createRecordingLogger(), setLogSpec: () => {} };
  const source = async () => {
    throw new Error("There is no such chain.");
  };
  await expect(BeaconNode.open({ ...options, source })).rejects.toThrow("There is no such chain.");
  const opening = BeaconNode.open({
    ...options,
    source: async () => ({ config, clock, engine }),
    networking: {
      address: "127.0.0.1",
      port: 0,
      discovery: false,
      bootnodes: [],
      directPeers: ["nowhere"],
      targetPeers: 1,
    },
  });
  await expect(opening).rejects.toThrow("multiaddr");

  await openDevChain(OPTIONS, dataDir);
});
