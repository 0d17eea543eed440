import { join } from "node:path";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it, onTestFinished } from "vitest";
import { openDevChain } from "../../../test/support/chain/dev-chain.ts";
import { FROM_GENESIS } from "../../../test/support/chain/settings.ts";
import { writeNetworkDirectory } from "../../../test/support/directories/network-directory.ts";
import { tempDirectory } from "../../../test/support/directories/temp-directory.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { openDataDirectory } from "../storage/data-directory.ts";
import { openNetworkSource } from "./network-source.ts";

const HEAD_EPOCH = 4;

it("rejects another schedule of past forks, and accepts one of future forks", async () => {
  const forks = [{ fork: "electra", epoch: 0 } as const, { fork: "fulu", epoch: 3 } as const];
  const { devChain } = await openDevChain({ validators: 8, forks });
  const { config, chain } = devChain;
  const directory = join(tempDirectory(), "smallnet");
  const genesis = (await chain.states.genesis())!.serialize();
  const dataDir = tempDirectory();
  const db = await openDataDirectory(dataDir, { sync: false });
  onTestFinished(() => db.close());
  const open = async (FULU_FORK_EPOCH: number, GLOAS_FORK_EPOCH = Number.POSITIVE_INFINITY) => {
    writeNetworkDirectory(directory, { ...config, FULU_FORK_EPOCH, GLOAS_FORK_EPOCH }, genesis);
    const network = { name: "smallnet", directory };
    const source = await openNetworkSource(db, { ...FROM_GENESIS, dataDir, network, logger: createRecordingLogger() });
    source.clock.close();
    return source.config.FULU_FORK_EPOCH;
  };
  const advanceTo = async (epoch: number) => {
    const batch = db.batch();
    batch.hotBlocks.put(epoch * SLOTS_PER_EPOCH, chain.head.root, chain.head.root);
    await batch.write();
  };
  const contradiction = (stored: string, current: string) => ({
    kind: "otherSchedule",
    message: `The data directory ${dataDir} holds the chain of network "smallnet" with another fork schedule: ${stored} there and ${current} now.`,
  });

  // The fork may be rescheduled until one of the two epochs is reached.
  expect(await open(3)).toBe(3);
  expect(await open(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
  expect(await open(HEAD_EPOCH)).toBe(HEAD_EPOCH);
  await advanceTo(HEAD_EPOCH);
  await expect(open(50)).rejects.toMatchObject(contradiction("fulu begins at epoch 4", "at epoch 50"));
  await expect(open(3)).rejects.toMatchObject(contradiction("fulu begins at epoch 4", "at epoch 3"));
  await expect(open(Number.POSITIVE_INFINITY)).rejects.toMatchObject(contradiction("fulu begins at epoch 4", "never"));
  await expect(open(HEAD_EPOCH, HEAD_EPOCH)).rejects.toMatchObject(contradiction("gloas begins never", "at epoch 4"));
  expect(await open(HEAD_EPOCH, HEAD_EPOCH + 1)).toBe(HEAD_EPOCH);
  await advanceTo(HEAD_EPOCH + 1);
  await expect(open(HEAD_EPOCH)).rejects.toMatchObject(contradiction("gloas begins at epoch 5", "never"));
  expect(await open(HEAD_EPOCH, HEAD_EPOCH + 1)).toBe(HEAD_EPOCH);
});

it("warns only about a clock behind the stored chain", async () => {
  const networkDirectory = tempDirectory();
  const { devChain } = await openDevChain({ validators: 8, networkDirectory });
  const { root } = devChain.chain.head;
  const dataDir = tempDirectory();
  const db = await openDataDirectory(dataDir, { sync: false });
  onTestFinished(() => db.close());
  const warnings = async () => {
    const logger = createRecordingLogger();
    const network = { name: "dev", directory: networkDirectory };
    const { clock } = await openNetworkSource(db, { ...FROM_GENESIS, dataDir, network, logger });
    clock.close();
    return logger.records.filter(({ level }) => level === "warn");
  };
  expect(await warnings()).toEqual([]);
  const batch = db.batch();
  batch.hotBlocks.put(5000, root, root);
  await batch.write();
  expect(await warnings()).toEqual([
    {
      level: "warn",
      message: "System clock is behind the newest stored block",
      fields: { slot: 5000, wallSlot: expect.any(Number) },
    },
  ]);
});
