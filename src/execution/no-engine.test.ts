import { expect, it } from "vitest";
import { NoExecutionEngine } from "./no-engine.ts";

it("follows optimistically and says why it cannot build", async () => {
  const engine = new NoExecutionEngine();
  expect(engine.online).toBe(false);
  expect(await engine.notifyNewPayload()).toEqual({ status: "optimistic" });
  await expect(engine.buildPayload()).rejects.toMatchObject({ kind: "unavailable" });
});
