import { expect, it } from "vitest";
import { SharedWork, SharedWorks, type Work } from "./shared-work.ts";

const RESULT = {};

/** Work of so many steps, each of which waits to be let on. */
function stepwise(steps: number) {
  let done = 0;
  let ended = false;
  let letOn: () => void = () => {};
  const shared = new SharedWork(
    async (goOn) => {
      for (; done < steps; done++) {
        goOn();
        await new Promise<void>((resolve) => {
          letOn = resolve;
        });
      }
      return RESULT;
    },
    () => {
      ended = true;
    },
  );
  const step = async () => {
    letOn();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { shared, step, done: () => done, ended: () => ended };
}

it("is given up when the last one who waits has left", async () => {
  const { shared, step, done, ended } = stepwise(10);
  const [first, second] = [new AbortController(), new AbortController()];
  const outcomes = Promise.allSettled([shared.for(first.signal), shared.for(second.signal)]);
  await step();
  await step();
  first.abort(new Error("left first"));
  await step();
  expect(ended()).toBe(false);
  second.abort(new Error("left last"));
  await step();
  expect(ended()).toBe(true);
  expect(done()).toBeLessThan(5);
  const reasons = (await outcomes).map((outcome) => (outcome.status === "rejected" ? outcome.reason.message : "made"));
  expect(reasons).toEqual(["left first", "left last"]);
});

it("is made for who cannot leave", async () => {
  const { shared, step } = stepwise(3);
  const leaving = new AbortController();
  const left = shared.for(leaving.signal);
  const stays = shared.for(undefined);
  leaving.abort(new Error("left"));
  for (let steps = 0; steps < 5; steps++) await step();
  expect(await stays).toBe(RESULT);
  expect(await left).toBe(RESULT);
});

it("has its signal aborted when the last one leaves, and nobody joins it from then on", async () => {
  const works = new SharedWorks<string, unknown>();
  const signals: AbortSignal[] = [];
  const work: Work<unknown> = (_, abandoned) => {
    const signal = abandoned();
    signals.push(signal);
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  };
  const [first, second] = [new AbortController(), new AbortController()];
  const outcomes = Promise.allSettled([
    works.share("key", first.signal, work),
    works.share("key", second.signal, work),
  ]);
  await new Promise((resolve) => setImmediate(resolve));
  first.abort(new Error("left first"));
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  second.abort(new Error("left last"));
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  const next = works.share("key", undefined, async () => RESULT);
  const reasons = (await outcomes).map((outcome) => (outcome.status === "rejected" ? outcome.reason.message : "made"));
  expect(reasons).toEqual(["left first", "left last"]);
  expect(await next).toBe(RESULT);
});
