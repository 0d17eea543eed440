import { expect, it } from "vitest";
import { openEth } from "../../../../test/support/evm/eth/eth.ts";
import { bytesOf } from "../../../../test/support/evm/evm.ts";
import type { EthSubscription } from "./subscription.ts";
import { Subscriptions } from "./subscriptions.ts";

const topic = (n: number): string => `0x${n.toString(16).padStart(64, "0")}`;
/** Init code that emits logs with the given topics. */
const emitting = (...logs: number[][]): Uint8Array => {
  const push = (n: number) => `60${n.toString(16).padStart(2, "0")}`;
  const code = logs.map((topics) => `${topics.toReversed().map(push).join("")}60006000a${topics.length}`);
  return bytesOf(`${code.join("")}00`);
};

async function open(maxWork?: number) {
  const { chain, engine, service, mine, setHead } = await openEth();
  const subscriptions = new Subscriptions(service.chain, maxWork);
  const emit = async (...logs: number[][]) => {
    const raw = chain.signRaw(0, { data: emitting(...logs) });
    await service.call("sendRawTransaction", { raw });
    const block = await mine();
    await subscriptions.delivered();
    return block;
  };
  /** Collects the topics of delivered logs, negated for removed logs, and counts overloads. */
  const follow = (topics: (number[] | null)[]) => {
    const subscription: EthSubscription = {
      kind: "logs",
      topics: topics.map((some) => (some ? some.map(topic) : null)),
    };
    const followed = { arrays: [] as (readonly unknown[])[], overloads: 0, end: () => {} };
    followed.end = subscriptions.add(subscription, {
      deliver: (results) => followed.arrays.push(results),
      onOverload: () => followed.overloads++,
    });
    const logs = () =>
      (followed.arrays.flat() as { topics: string[]; removed: boolean }[]).map(({ topics, removed }) =>
        topics.map((each) => (removed ? -1 : 1) * Number(each)),
      );
    return Object.assign(followed, { logs });
  };
  return { chain, engine, mine, setHead, emit, follow, subscriptions };
}

it("match the logs of a block by all conditions, in their order", async () => {
  const { emit, follow } = await open();
  const [all, either, both, second, three] = [
    follow([]),
    follow([[3, 1]]),
    follow([[1, 9], [2]]),
    follow([null, [2]]),
    follow([null, null, null]),
  ];
  await emit([1, 2], [], [3], [3, 2], [1, 4], [4]);
  expect(all.logs()).toEqual([[1, 2], [], [3], [3, 2], [1, 4], [4]]);
  expect(either.logs()).toEqual([[1, 2], [3], [3, 2], [1, 4]]);
  expect(both.logs()).toEqual([[1, 2]]);
  expect(second.logs()).toEqual([
    [1, 2],
    [3, 2],
  ]);
  expect(three.logs()).toEqual([]);
});

it("mark removed logs, newest first", async () => {
  const { chain, engine, setHead, subscriptions, emit, follow } = await open();
  await emit([1], [2]);
  const { logs } = follow([]);
  await setHead(await engine.executor.build(engine.blocks.genesis, chain.attributes({}, engine.blocks.genesis)));
  await subscriptions.delivered();
  expect(logs()).toEqual([[-2], [-1]]);
});

it("share the results if they are equal, and get those of later heads only", async () => {
  const { emit, follow } = await open();
  const first = follow([[1]]);
  const second = follow([[1]]);
  await emit([1], [1]);
  const third = follow([[1]]);
  first.end();
  first.end();
  await emit([1]);
  expect([first, second, third].map(({ arrays }) => arrays.flat().length)).toEqual([2, 3, 1]);
  expect(second.arrays[0]).toBe(first.arrays[0]);
  expect(third.arrays[0]).toBe(second.arrays[1]);
});

it("end the newest ones if they are to get more than the chain can deliver", async () => {
  // Enough to deliver three logs to only one audience.
  const { emit, follow } = await open(3 * 11 - 1);
  const [first, second, none] = [follow([]), follow([[1]]), follow([[7]])];
  await emit([1], [1], [1]);
  expect([first, second, none].map(({ arrays, overloads }) => [arrays.flat().length, overloads])).toEqual([
    [3, 0],
    [0, 1],
    [0, 1],
  ]);
});
