import { expect, it } from "vitest";
import { PayloadUnavailableError } from "./engine.ts";
import { NoExecutionEngine } from "./no-engine.ts";

it("follows optimistically and says why it cannot build", async () => {
  const engine = new NoExecutionEngine();
  expect(engine.online).toBe(false);
  expect(await engine.notifyNewPayload()).toEqual({ status: "optimistic" });
  await expect(engine.buildPayload()).rejects.toThrow(PayloadUnavailableError);
});
