import { existsSync } from "node:fs";
import { readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { openDevChain, QUIET } from "../../test/support/chain/dev-chain.ts";
import { NODE_SETTINGS } from "../../test/support/chain/settings.ts";
import { tempDirectory } from "../../test/support/directories/temp-directory.ts";
import { createRecordingLogger } from "../../test/support/log/recording-logger.ts";
import type { Pubkeys } from "../chain/pubkeys/pubkeys.ts";
import { DEFAULT_SYNC_SETTINGS } from "../sync/settings.ts";
import { BeaconNode } from "./beacon-node.ts";
import { StartError } from "./start-error.ts";

const OPTIONS = { ...QUIET, validators: 8 };

it("closes once: the clock, then owned parts, then its own parts in reverse order", async () => {
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
  node.own({ close: () => void order.push("first owned") });
  node.own({ close: () => void order.push("second owned") });
  const waiting = expect(devChain.clock.untilSlot(9).finally(() => order.push("clock"))).rejects.toThrow("stopped");
  await Promise.all([node.close(), node.close()]);
  await waiting;
  expect(order).toEqual(["clock", "second owned", "first owned", "chain", "database"]);
});

it("releases the data directory if opening fails", async () => {
  const dataDir = tempDirectory();
  const { node, close } = await openDevChain(OPTIONS, dataDir);
  const { config, clock, engine } = node.source;
  await close();

  const options = {
    ...NODE_SETTINGS,
    sync: DEFAULT_SYNC_SETTINGS,
    dataDir,
    waitForDisk: false,
    logger: createRecordingLogger(),
    setLogSpec: () => {},
  };
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
      supernode: false,
    },
  });
  await expect(opening).rejects.toThrow("multiaddr");

  await openDevChain(OPTIONS, dataDir);
});

it("caches public keys of many validators in a file, and rebuilds a damaged one", async () => {
  const dataDir = tempDirectory();
  const path = join(dataDir, "pubkeys");
  const options = { ...OPTIONS, chainTuning: { manyKeys: OPTIONS.validators } };
  const start = async (changes = {}) => {
    const { node, complaints, close } = await openDevChain({ ...options, ...changes }, dataDir);
    const { epochCtx, validators } = node.chain.headState;
    const keys = validators.getAllReadonlyValues().map(({ pubkey }) => pubkey);
    expect(keys.map((key) => epochCtx.getValidatorIndex(key))).toEqual([...keys.keys()]);
    expect(keys.map((_, index) => epochCtx.getPubkey(index)?.toBytes())).toEqual(keys);
    await (epochCtx.pubkeyCache as Pubkeys).idle();
    await close();
    return complaints;
  };
  await start();
  const content = await readFile(path);
  expect(content).toHaveLength(OPTIONS.validators * 96);
  const damages = [async () => {}, () => truncate(path, 100), () => writeFile(path, Buffer.alloc(content.length, 1))];
  for (const damage of damages) {
    await damage();
    expect(await start()).toEqual([]);
    expect(await readFile(path)).toEqual(content);
  }
  // A chain with few validators has no file, and deletes the file of the previous chain.
  await start({ reset: true, chainTuning: {} });
  expect(existsSync(path)).toBe(false);
});

it("fails on an invalid public key in the state", async () => {
  const dataDir = tempDirectory();
  const { node, close } = await openDevChain(OPTIONS, dataDir);
  const { config, clock, engine } = node.source;
  const state = node.chain.headState.clone();
  await close();
  state.validators.get(5).pubkey = new Uint8Array(48).fill(0x9f);
  state.commit();
  const failing = await BeaconNode.open({
    ...NODE_SETTINGS,
    sync: DEFAULT_SYNC_SETTINGS,
    dataDir,
    waitForDisk: false,
    logger: createRecordingLogger(),
    setLogSpec: () => {},
    chainTuning: { manyKeys: OPTIONS.validators },
    source: async () => ({ config, clock, engine, takeAnchorState: () => state }),
  });
  const failure = await new Promise((resolve) => failing.onFailure(resolve));
  await failing.close();
  expect(failure).toMatchObject({
    name: StartError.name,
    kind: "dataDirDamaged",
    message: expect.stringMatching(/ is damaged: the public key 0x(9f)+ of validator 5 is not a point of the curve\.$/),
  });
});
