import { expect, it } from "vitest";
import { StateUnavailableError } from "../chain/states/state-store.ts";
import { PayloadUnavailableError } from "../execution/engine.ts";
import { failingAsCalls } from "./chain-failures.ts";
import type { ApiContext } from "./context.ts";
import { defineMethod } from "./method.ts";

const context = {} as ApiContext;
const method = (handler: () => unknown) =>
  failingAsCalls(
    defineMethod({
      name: "example",
      summary: "",
      result: { name: "result", schema: {} },
      failures: [],
      cost: "cheap",
      access: "read",
      example: {},
      handler,
    }),
  );

it("calls answer as before", async () => {
  expect(await method(async () => 3).handler!(context, {})).toBe(3);
  expect(await method(() => "at once").handler!(context, {})).toBe("at once");
});

it.each([
  [new StateUnavailableError("0x01", "0x02"), "not-found"],
  [new PayloadUnavailableError("There is no payload."), "unavailable"],
])("what the chain cannot give is a failure of the call: %s", async (error, kind) => {
  const { handler } = method(() => Promise.reject(error));
  await expect(handler!(context, {})).rejects.toMatchObject({ name: "Failure", kind, message: error.message });
});

it("a defect stays what it is", async () => {
  const defect = new TypeError("a mistake");
  await expect(
    method(() => {
      throw defect;
    }).handler!(context, {}),
  ).rejects.toBe(defect);
});
