import { expect, it } from "vitest";
import { SharedTask, type SharedTaskFunction, SingleFlight } from "./single-flight.ts";

const RESULT = {};

/** Creates a task with several steps, each of which waits for a call to `step`. */
function stepwise(steps: number) {
  let done = 0;
  let ended = false;
  let resume: () => void = () => {};
  const task = new SharedTask(
    async (throwIfAborted) => {
      for (; done < steps; done++) {
        throwIfAborted();
        await new Promise<void>((resolve) => {
          resume = resolve;
        });
      }
      return RESULT;
    },
    () => {
      ended = true;
    },
  );
  const step = async () => {
    resume();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { task, step, done: () => done, ended: () => ended };
}

const messages = (outcomes: PromiseSettledResult<unknown>[]) =>
  outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason.message : "result"));

it("cancels a task when its last caller aborts", async () => {
  const { task, step, done, ended } = stepwise(10);
  const [first, second] = [new AbortController(), new AbortController()];
  const outcomes = Promise.allSettled([task.join(first.signal), task.join(second.signal)]);
  await step();
  await step();
  first.abort(new Error("left first"));
  await step();
  expect(ended()).toBe(false);
  second.abort(new Error("left last"));
  await step();
  expect(ended()).toBe(true);
  expect(done()).toBeLessThan(5);
  expect(messages(await outcomes)).toEqual(["left first", "left last"]);
});

it("finishes a task for a caller without a signal", async () => {
  const { task, step } = stepwise(3);
  const leaving = new AbortController();
  const left = task.join(leaving.signal);
  const stays = task.join(undefined);
  leaving.abort(new Error("left"));
  for (let steps = 0; steps < 5; steps++) await step();
  expect(await stays).toBe(RESULT);
  expect(await left).toBe(RESULT);
});

it("aborts the task's signal when the last caller aborts, and starts a new task for the next call", async () => {
  const flights = new SingleFlight<string, unknown>();
  const signals: AbortSignal[] = [];
  const task: SharedTaskFunction<unknown> = (_, abortSignal) => {
    const signal = abortSignal();
    signals.push(signal);
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  };
  const [first, second] = [new AbortController(), new AbortController()];
  const outcomes = Promise.allSettled([
    flights.run("key", first.signal, task),
    flights.run("key", second.signal, task),
  ]);
  await new Promise((resolve) => setImmediate(resolve));
  first.abort(new Error("left first"));
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  second.abort(new Error("left last"));
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  const next = flights.run("key", undefined, async () => RESULT);
  expect(messages(await outcomes)).toEqual(["left first", "left last"]);
  expect(await next).toBe(RESULT);
});
