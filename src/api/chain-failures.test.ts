import { expect, it } from "vitest";
import { StateUnavailableError } from "../chain/states/state-store.ts";
import { PayloadUnavailableError } from "../execution/engine.ts";
import { failingAsCalls } from "./chain-failures.ts";

const calls = failingAsCalls({
  family: {
    add: async (a: number, b: number) => a + b,
    now: () => "at once",
    fail: async (error: Error) => Promise.reject(error),
  },
}).family;

it("calls answer as before", async () => {
  expect(await calls.add(1, 2)).toBe(3);
  expect(calls.now()).toBe("at once");
});

it.each([
  [new StateUnavailableError("0x01", "0x02"), "not-found"],
  [new PayloadUnavailableError("There is no payload."), "unavailable"],
])("what the chain cannot give is a failure of the call: %s", async (error, kind) => {
  await expect(calls.fail(error)).rejects.toMatchObject({ name: "Failure", kind, message: error.message });
});

it("a defect stays what it is", async () => {
  const defect = new TypeError("a mistake");
  await expect(calls.fail(defect)).rejects.toBe(defect);
});
