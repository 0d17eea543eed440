import { routes } from "@lodestar/api";
import { createChainForkConfig } from "@lodestar/config";
import { expect, it } from "vitest";
import { besideData, standardKept } from "./operation.ts";

const beacon = routes.beacon.getDefinitions(createChainForkConfig({}));
const fork = (epoch: number) => ({
  previousVersion: new Uint8Array(4),
  currentVersion: new Uint8Array(4).fill(epoch),
  epoch,
});
const meta = { executionOptimistic: false, finalized: true };

it("an answer is encoded once for the object that it is made of", async () => {
  const data = fork(1);
  const operation = standardKept(beacon.getStateFork, async (_args: undefined) => ({ data, meta }));
  const first = await operation(undefined);
  const second = await operation(undefined);
  expect(second.body).toBe(first.body);
  expect(JSON.parse(String(first.body))).toEqual({
    previous_version: "0x00000000",
    current_version: "0x01010101",
    epoch: "1",
  });
});

it("another object and other metadata make another answer", async () => {
  let epoch = 0;
  const operation = standardKept(beacon.getStateFork, async (_args: undefined) => ({
    data: fork(++epoch),
    meta: { ...meta, finalized: epoch === 1 },
  }));
  const [first, second] = [await operation(undefined), await operation(undefined)];
  expect(JSON.parse(String(second.body)).epoch).toBe("2");
  expect(first.meta).toEqual({ execution_optimistic: false, finalized: true });
  expect(second.meta).toEqual({ execution_optimistic: false, finalized: false });
});

it("metadata is encoded once when it cannot change, and each time when it can", () => {
  const codec = beacon.getStateFork.resp.meta;
  const frozen = Object.freeze({ ...meta });
  expect(besideData(codec, frozen)).toBe(besideData(codec, frozen));
  const open = { ...meta };
  expect(besideData(codec, open).meta).toMatchObject({ finalized: true });
  open.finalized = false;
  expect(besideData(codec, open).meta).toMatchObject({ finalized: false });
});

it("one object is encoded by each codec in its own way", () => {
  const frozen = Object.freeze({ ...meta, version: "deneb" as never });
  expect(besideData(beacon.getStateFork.resp.meta, frozen).headers).not.toHaveProperty("Eth-Consensus-Version");
  expect(besideData(beacon.getBlockV2.resp.meta, frozen).headers).toHaveProperty("Eth-Consensus-Version", "deneb");
});
