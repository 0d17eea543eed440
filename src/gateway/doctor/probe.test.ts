import { expect, it } from "vitest";
import { BodyStream } from "../../http-client/body-stream.ts";
import { Probe } from "./probe.ts";

it("times out a stalled body like a missing response", async () => {
  let isStopped = false;
  const stop = () => {
    isStopped = true;
  };
  const body = new BodyStream({ pause: () => {}, resume: () => {}, stop });
  body.push(Buffer.from("["));
  const request = async () => ({ upstream: "a", status: 200, headers: {}, body });
  await expect(new Probe({ name: "a", request }, 20).get("/x")).rejects.toThrow(
    "a did not answer within 0.02 seconds.",
  );
  expect(isStopped).toBe(true);
});
