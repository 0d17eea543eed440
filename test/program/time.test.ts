import { expect, it } from "vitest";
import { forkSchedule } from "../../src/cli/flags/dev/fork-schedule.ts";
import { makeHistory } from "../support/chain/dev-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { ProgramHere } from "../support/program/program-here.ts";

const STOPPED_AT = 10;
const MISSED_SLOTS = 1000;

it("a stopped chain is behind the wall clock, logs it, and catches up with --catch-up", async () => {
  const dataDir = tempDirectory();
  const genesisTime = Math.floor(Date.now() / 1000) - STOPPED_AT - MISSED_SLOTS;
  const chain = { validators: 8, slotSeconds: 1, forks: forkSchedule("phase0", []), genesisTime };
  await makeHistory(STOPPED_AT, chain, dataDir);
  const flags = ["--data-dir", dataDir, "--validators", "8", "--slot-seconds", "1", "--warmup-epochs", "0"];

  const behind = await ProgramHere.dev([...flags, "--speed", "0.001"]);
  const [, seconds, wallSlot] = await behind.untilLine(
    /Chain time is (\d+) s behind the wall clock: .* get (\d+) instead of 10\. A start with --catch-up and/,
  );
  expect(Number(seconds)).toBeGreaterThanOrEqual(MISSED_SLOTS);
  expect(Number(wallSlot)).toBeGreaterThanOrEqual(STOPPED_AT + MISSED_SLOTS);
  expect(await behind.call("getChainTime")).toMatchObject({ slot: "10", speed: 0.001 });
  await behind.stop();

  const level = await ProgramHere.dev([...flags, "--catch-up"]);
  await level.untilLine(/Dev chain is running/);
  await level.callUntil<string>("getBeaconHead", (slot) => Number(slot) > STOPPED_AT + MISSED_SLOTS);
  expect(Math.abs(Number((await level.call("getChainTime")).offset))).toBeLessThan(1);
  expect(level.output).not.toMatch(/Chain time is/);
  expect(level.complaints).toEqual([]);
});
