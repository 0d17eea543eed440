import type { ValidatorIndex } from "@lodestar/types";
import { expect, it } from "vitest";
import { openEmptyDatabase } from "../../../test/support/db/empty-database.ts";
import type { DevTime } from "./time.ts";
import { PresenceStore, ValidatorPresence } from "./validator-presence.ts";

const time = { exclusive: (work: () => Promise<unknown>) => work() } as unknown as DevTime;

interface SceneOptions {
  indices?: ValidatorIndex[];
  activeValidators?: ValidatorIndex[];
}

/** Creates a validator presence with a store in a temporary database. `reopen` restarts it. */
async function scene({ indices = [0, 1, 2, 3], activeValidators }: SceneOptions = {}) {
  const db = await openEmptyDatabase();
  const changes: number[][] = [];
  const keys = { indices, secretKey: () => undefined };
  const reopen = async () => {
    const stored = await PresenceStore.open(db);
    const onChange = (online: ReadonlySet<number>) => void changes.push([...online]);
    return new ValidatorPresence({ keys, time, activeValidators, stored, onChange });
  };
  return { presence: await reopen(), reopen, changes, keys };
}

it("all validators are online by default", async () => {
  const { presence, changes } = await scene();
  expect(presence.presence()).toEqual({ online: [0, 1, 2, 3], offline: [] });
  expect(changes).toEqual([[0, 1, 2, 3]]);
});

it("only active validators are online by default, until a call sets others", async () => {
  const { presence, reopen } = await scene({ activeValidators: [1, 3] });
  expect(presence.presence()).toEqual({ online: [1, 3], offline: [0, 2] });
  await presence.setOffline({ ranges: [{ first: 3, last: 3 }] });
  expect(presence.presence()).toEqual({ online: [0, 1, 2], offline: [3] });
  expect((await reopen()).presence()).toEqual({ online: [0, 1, 2], offline: [3] });
});

it("sets exactly the selected validators online or offline", async () => {
  const { presence, changes } = await scene();
  await presence.setOffline({
    ranges: [
      { first: 0, last: 1 },
      { first: 1, last: 2 },
    ],
  });
  expect(presence.presence()).toEqual({ online: [3], offline: [0, 1, 2] });
  await presence.setOnline({ ranges: [{ first: 0, last: 0 }] });
  expect(presence.presence()).toEqual({ online: [0], offline: [1, 2, 3] });
  await presence.setOnline({ ranges: [] });
  expect(presence.presence()).toEqual({ online: [], offline: [0, 1, 2, 3] });
  await presence.setOffline({ ranges: [] });
  expect(changes).toEqual([[0, 1, 2, 3], [3], [0], [], [0, 1, 2, 3]]);
});

it("spreads a share over the known keys, not over their indices", async () => {
  const { presence } = await scene({ indices: [0, 2, 4, 6] });
  await presence.setOffline({ share: 0.5 });
  expect(presence.presence()).toEqual({ online: [2, 6], offline: [0, 4] });
});

it("rejects the first unknown key of a range and changes nothing", async () => {
  const { presence, reopen, changes } = await scene({ indices: [0, 1, 5] });
  const ranges = [{ first: 1, last: Number.MAX_SAFE_INTEGER }];
  await expect(presence.setOffline({ ranges })).rejects.toThrow(
    "The key of validator 2 is unknown. This chain has keys of 3 validators, up to 5.",
  );
  expect(presence.presence().offline).toEqual([]);
  expect(changes).toHaveLength(1);
  expect((await reopen()).presence().offline).toEqual([]);
});

it("returns the same set until the online validators change", async () => {
  const { presence, keys, changes } = await scene();
  const before = presence.onlineNow();
  expect(presence.onlineNow()).toBe(before);
  keys.indices = [0, 1, 2, 3, 4];
  expect([...presence.onlineNow()]).toEqual([0, 1, 2, 3, 4]);
  expect(changes).toHaveLength(2);
});

it("reports a change to other validators of the same number", async () => {
  const { presence, changes } = await scene();
  await presence.setOnline({ ranges: [{ first: 0, last: 1 }] });
  await presence.setOnline({ ranges: [{ first: 2, last: 3 }] });
  expect(changes.slice(1)).toEqual([
    [0, 1],
    [2, 3],
  ]);
});

it("restores a captured presence, and reloads the stored one", async () => {
  const { presence } = await scene();
  await presence.setOffline({ ranges: [{ first: 1, last: 1 }] });
  const restore = presence.capture();
  await presence.setOffline({ ranges: [{ first: 2, last: 2 }] });
  restore();
  expect(presence.presence().offline).toEqual([1]);
  await presence.reload();
  expect(presence.presence().offline).toEqual([2]);
});
