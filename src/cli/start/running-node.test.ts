import { expect, it, vi } from "vitest";
import { running } from "./running-node.ts";

function fakeNode(closing: () => Promise<void> = async () => {}) {
  const failed = Promise.withResolvers<unknown>();
  const node = {
    close: vi.fn(closing),
    onFailure: (callback: (failure: unknown) => void) => void failed.promise.then(callback),
  };
  return { node, fail: failed.resolve };
}

it("closes a stopped node", async () => {
  const { node } = fakeNode();
  const { stop, stopped } = running(node);
  await stop();
  await expect(stopped).resolves.toBeUndefined();
  expect(node.close).toHaveBeenCalledOnce();
});

it("closes a failed node and reports the failure", async () => {
  const { node, fail } = fakeNode();
  const { stopped } = running(node);
  fail(new Error("No space left."));
  await expect(stopped).rejects.toThrow("No space left.");
  expect(node.close).toHaveBeenCalledOnce();
});

it("prefers the error of closing to that of a failed start", async () => {
  const starting = running(fakeNode().node, Promise.reject(new Error("No port.")));
  await expect(starting.stopped).rejects.toThrow("No port.");
  const { node } = fakeNode(() => Promise.reject(new Error("No space left.")));
  await expect(running(node, Promise.reject(new Error("A slot failed."))).stopped).rejects.toThrow("No space left.");
});

it("rejects a stop with the error of closing, also after a failure", async () => {
  const { node, fail } = fakeNode(() => Promise.reject(new Error("The pools could not be kept.")));
  const { stop } = running(node);
  const stopping = stop();
  fail(new Error("No space left."));
  await expect(stopping).rejects.toThrow("The pools could not be kept.");
  expect(node.close).toHaveBeenCalledOnce();
});
