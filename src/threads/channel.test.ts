import { once } from "node:events";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import { PoolError } from "../evm/pool/pool-error.ts";
import { PayloadUnavailableError } from "../execution/engine.ts";
import { type CallHandler, Channel } from "./channel.ts";
import { ErrorRegistry } from "./error-registry.ts";
import { Moved } from "./transfer.ts";

const NONE: CallHandler = () => undefined;

function connect(handleHere: CallHandler, handleThere: CallHandler) {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const errors = new ErrorRegistry([PoolError, PayloadUnavailableError]);
  const here = new Channel(port1, { handle: handleHere, errors });
  const there = new Channel(port2, { handle: handleThere, errors });
  return { here, there };
}

describe("a channel", () => {
  it("calls in both directions, within a call too", async () => {
    const { here, there } = connect(
      (method, [n]) => `${method} ${n}`,
      async (_, [n]) => `${await there.call("back", [n])}!`,
    );
    expect(await here.call("forth", [7n])).toBe("back 7!");
    expect(await Promise.all([here.call("forth", [1]), here.call("forth", [2])])).toEqual(["back 1!", "back 2!"]);
  });

  it("keeps the class, the fields and the stack of known errors", async () => {
    const thrown = [new PoolError("nonceTooLow", "next nonce 5"), new PayloadUnavailableError("None."), "text"];
    const { here } = connect(NONE, (_, [index]) => {
      throw thrown[index as number];
    });
    const errors = await Promise.all(
      thrown.map((_, index) => here.call("fail", [index]).catch((error: Error) => error)),
    );
    expect(errors[0]).toBeInstanceOf(PoolError);
    expect(errors[0]).toMatchObject({ code: "nonceTooLow", name: "PoolError", message: "nonce too low: next nonce 5" });
    expect(errors[0]).toHaveProperty("stack", expect.stringContaining("channel.test.ts"));
    expect(errors[1]).toBeInstanceOf(PayloadUnavailableError);
    expect(errors[2]).toMatchObject({ message: "text" });
  });

  it("reports a value that cannot be cloned as an error of the call", async () => {
    const { here } = connect(NONE, () => () => {});
    await expect(here.call("result", [])).rejects.toThrow("could not be cloned");
    await expect(here.call("argument", [() => {}])).rejects.toThrow("could not be cloned");
  });

  it("aborts a call at the other end", async () => {
    const aborted = Promise.withResolvers<string>();
    const started = Promise.withResolvers<void>();
    const { here } = connect(NONE, (_, [name, signal]) => {
      (signal as AbortSignal).addEventListener("abort", () => aborted.resolve(name as string));
      started.resolve();
      return new Promise(() => {});
    });
    const controller = new AbortController();
    const calling = here.call("wait", ["one", controller.signal]);
    await started.promise;
    controller.abort(new Error("enough"));
    await expect(calling).rejects.toThrow("enough");
    expect(await aborted.promise).toBe("one");
    await expect(here.call("wait", ["two", controller.signal])).rejects.toThrow("enough");
  });

  it("sends only the bytes of a view", async () => {
    const { here } = connect(NONE, (_, [value]) => {
      const { bytes } = value as { bytes: Uint8Array };
      return [bytes, bytes.buffer.byteLength];
    });
    const large = new Uint8Array(1000).fill(3);
    expect(await here.call("echo", [{ bytes: large.subarray(10, 12) }])).toEqual([Uint8Array.of(3, 3), 2]);
  });

  it("notifies without an answer, whatever the handler does", async () => {
    const received: unknown[] = [];
    const { here } = connect(NONE, (method, args) => {
      received.push([method, args]);
      throw new Error("Not sent back.");
    });
    here.notify("first", [1]);
    await expect(here.call("second", [])).rejects.toThrow("Not sent back.");
    expect(received).toEqual([
      ["first", [1]],
      ["second", []],
    ]);
    here.close(new Error("closed"));
    here.notify("third", []);
  });

  it("sends notifications with the next message, or at the end of the turn", async () => {
    const posted: number[] = [];
    const { port1, port2 } = new MessageChannel();
    onTestFinished(() => port1.close());
    port1.on("message", (messages: unknown[]) => posted.push(messages.length));
    const there = new Channel(port2);
    there.notify("first", []);
    there.notify("second", []);
    const pending = there.call("third", []);
    pending.catch(() => {});
    await once(port1, "message");
    there.notify("fourth", []);
    await once(port1, "message");
    expect(posted).toEqual([3, 1]);
    there.close(new Error("closed"));
  });

  it("finishes what a message sets off in a turn before the next message of a batch", async () => {
    const log: unknown[] = [];
    const { here } = connect(NONE, async (method) => {
      log.push(method);
      for (let turns = 0; turns < 5; turns++) await Promise.resolve();
      log.push(`${method} done`);
    });
    here.notify("first", []);
    here.notify("second", []);
    await here.call("third", []);
    expect(log).toEqual(["first", "first done", "second", "second done", "third", "third done"]);
  });

  it("keeps notifications if the message after them cannot be cloned", async () => {
    const received: string[] = [];
    const { here } = connect(NONE, (method) => void received.push(method));
    here.notify("first", []);
    await expect(here.call("broken", [() => {}])).rejects.toThrow("could not be cloned");
    await here.call("second", []);
    expect(received).toEqual(["first", "second"]);
  });

  it("moves memory and ports, and shares shared memory", async () => {
    const { here } = connect(NONE, (_, [bytes, port, shared]) => {
      (port as MessagePort).postMessage("hello");
      (shared as Uint8Array)[0] = 7;
      const reply = Uint8Array.of(...(bytes as Uint8Array), 3);
      return new Moved(reply, reply.buffer);
    });
    const bytes = Uint8Array.of(1, 2);
    const shared = new Uint8Array(new SharedArrayBuffer(8), 4, 2);
    const { port1, port2 } = new MessageChannel();
    const greeting = once(port1, "message");
    expect(await here.call("move", [new Moved(bytes, bytes.buffer), port2, shared])).toEqual(Uint8Array.of(1, 2, 3));
    expect(await greeting).toEqual(["hello"]);
    expect([bytes.length, shared[0]]).toEqual([0, 7]);
    port1.close();
  });

  it("rejects pending and later calls once it is closed", async () => {
    const { here } = connect(NONE, () => new Promise(() => {}));
    const pending = here.call("wait", []);
    here.close(new Error("closed"));
    await expect(pending).rejects.toThrow("closed");
    await expect(here.call("wait", [])).rejects.toThrow("closed");
  });
});
