import { expect, it } from "vitest";
import { running } from "./running-node.ts";

/** A node that takes until `closed` settles to close. */
function fakeNode() {
  const failed = Promise.withResolvers<unknown>();
  const closed = Promise.withResolvers<void>();
  const node = {
    closes: 0,
    close() {
      node.closes++;
      return closed.promise;
    },
    onFailure: (callback: (failure: unknown) => void) => void failed.promise.then(callback),
  };
  return { node, fail: failed.resolve, closed };
}

it("is stopped when the node is closed", async () => {
  const { node, closed } = fakeNode();
  const { stop, stopped } = running(node);
  const order: string[] = [];
  const stopping = Promise.all([stop(), stopped.then(() => order.push("stopped"))]);
  await Promise.resolve();
  order.push("closed");
  closed.resolve();
  await stopping;
  expect(order).toEqual(["closed", "stopped"]);
});

it("closes a failed node, then reports the failure", async () => {
  const { node, fail, closed } = fakeNode();
  const { stopped } = running(node);
  const order: string[] = [];
  const reported = stopped.catch((error: Error) => order.push(error.message));
  fail(new Error("No space left."));
  await expect.poll(() => node.closes).toBe(1);
  order.push("closed");
  closed.resolve();
  await reported;
  expect(order).toEqual(["closed", "No space left."]);
});

it("prefers the error of closing to that of a failed start", async () => {
  const { node: starting, closed } = fakeNode();
  closed.resolve();
  await expect(running(starting, Promise.reject(new Error("No port."))).stopped).rejects.toThrow("No port.");
  const { node, closed: closing } = fakeNode();
  closing.reject(new Error("No space left."));
  await expect(running(node, Promise.reject(new Error("A slot failed."))).stopped).rejects.toThrow("No space left.");
});

it("rejects a stop with the error of closing, also after a failure", async () => {
  const { node, fail, closed } = fakeNode();
  const { stop } = running(node);
  const stopping = stop();
  fail(new Error("No space left."));
  closed.reject(new Error("The pools could not be kept."));
  await expect(stopping).rejects.toThrow("The pools could not be kept.");
  expect(node.closes).toBe(1);
});
