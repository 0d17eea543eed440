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

it("a node that is stopped is closed", async () => {
  const { node } = fakeNode();
  const { stop, stopped } = running(node);
  await stop();
  await expect(stopped).resolves.toBeUndefined();
  expect(node.close).toHaveBeenCalledOnce();
});

it("a node that cannot go on is closed, and that is how it ends", async () => {
  const { node, fail } = fakeNode();
  const { stopped } = running(node);
  fail(new Error("No space left."));
  await expect(stopped).rejects.toThrow("No space left.");
  expect(node.close).toHaveBeenCalledOnce();
});

it("a start that fails ends the node; what closing it says goes before", async () => {
  const starting = running(fakeNode().node, Promise.reject(new Error("No port.")));
  await expect(starting.stopped).rejects.toThrow("No port.");
  const { node } = fakeNode(() => Promise.reject(new Error("No space left.")));
  await expect(running(node, Promise.reject(new Error("A slot failed."))).stopped).rejects.toThrow("No space left.");
});

it("a failure that comes while the node is being stopped is what the stop fails for, if anything", async () => {
  const { node, fail } = fakeNode(() => Promise.reject(new Error("The pools could not be kept.")));
  const { stop } = running(node);
  const stopping = stop();
  fail(new Error("No space left."));
  await expect(stopping).rejects.toThrow("The pools could not be kept.");
  expect(node.close).toHaveBeenCalledOnce();
});
