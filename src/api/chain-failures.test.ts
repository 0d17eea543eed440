import { expect, it } from "vitest";
import { StateUnavailableError } from "../chain/states/state-store.ts";
import { PayloadUnavailableError } from "../execution/engine.ts";
import { failingAsCall } from "./chain-failures.ts";

it("calls answer as before", async () => {
  expect(await failingAsCall(async (a: number, b: number) => a + b)(1, 2)).toBe(3);
  expect(await failingAsCall(() => "at once")()).toBe("at once");
});

it.each([
  [new StateUnavailableError("0x01", "block 0x02 is not held"), "not-found"],
  [new PayloadUnavailableError("There is no payload."), "unavailable"],
])("what the chain cannot give is a failure of the call: %s", async (error, kind) => {
  const call = failingAsCall(() => Promise.reject(error));
  await expect(call()).rejects.toMatchObject({ name: "Failure", kind, message: error.message });
});

it("a defect stays what it is", async () => {
  const defect = new TypeError("a mistake");
  const call = failingAsCall(() => {
    throw defect;
  });
  await expect(call()).rejects.toBe(defect);
});
