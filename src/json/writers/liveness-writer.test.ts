import { routes } from "@lodestar/api";
import { expect, it } from "vitest";
import { writeToBuffer } from "../shared-stream.ts";

it("writes liveness as the codec does", () => {
  const data = [3, 1_000_000, 0].map((index) => ({ index, isLive: index > 0 }));
  const input = {
    indices: Uint32Array.from(data, ({ index }) => index),
    live: Uint8Array.from(data, ({ isLive }) => Number(isLive)),
  };
  const written = writeToBuffer({ writer: "liveness", input }).toString();
  expect(written).toBe(JSON.stringify(routes.validator.LivenessResponseDataListType.toJson(data)));
});
