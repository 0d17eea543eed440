import { describe, expect, it } from "vitest";
import { SharedStream, writeToBuffer } from "./shared-stream.ts";

/** Creates balances of 32 ETH plus the validator index in gwei. */
function balancesOf(count: number) {
  const balanceChunks: SharedArrayBuffer[] = [];
  for (let first = 0; first < count; first += 4096) {
    const chunk = new BigUint64Array(new SharedArrayBuffer(Math.min(4096, count - first) * 8));
    for (let position = 0; position < chunk.length; position++)
      chunk[position] = 32_000_000_000n + BigInt(first + position);
    balanceChunks.push(chunk.buffer);
  }
  const json = JSON.stringify(
    Array.from({ length: count }, (_, index) => ({ index: `${index}`, balance: `${32_000_000_000 + index}` })),
  );
  return { stream: SharedStream.of({ writer: "balances", input: { balanceChunks } }), json };
}

async function read(stream: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const buffers: Buffer[] = [];
  for await (const buffer of stream) buffers.push(buffer);
  return buffers;
}

describe("shared stream", () => {
  it.each([0, 1, 4096, 20_000])("writes the bytes of its writer for %d validators", async (count) => {
    const { stream, json } = balancesOf(count);
    const buffers = await read(stream);
    expect(Buffer.concat(buffers).toString()).toBe(json);
    expect(buffers).toHaveLength(Math.ceil(json.length / (252 * 1024)));
  });

  it("writes the same bytes from a clone of its descriptor", async () => {
    const { stream, json } = balancesOf(5000);
    const cloned = SharedStream.of(structuredClone(stream.descriptor));
    expect(Buffer.concat(await read(cloned)).toString()).toBe(json);
  });

  it("yields to the event loop for each buffer", async () => {
    const { stream } = balancesOf(20_000);
    let turns = 0;
    const count = () => {
      turns++;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const buffers = await read(stream);
    clearImmediate(counting);
    expect(turns).toBeGreaterThanOrEqual(buffers.length);
  });

  it.each<[string, (stream: SharedStream) => unknown]>([
    ["was read to its end", read],
    ["was cancelled before it was read", (stream) => stream[Symbol.asyncIterator]().return?.()],
    [
      "was cancelled while it was read",
      async (stream) => {
        for await (const _ of stream) break;
      },
    ],
    ["was released", (stream) => stream.release()],
  ])("calls its end listeners once when it %s", async (_, end) => {
    const { stream } = balancesOf(20_000);
    let ends = 0;
    stream.onEnd(() => ends++);
    await end(stream);
    expect(ends).toBe(1);
    stream.release();
    expect(ends).toBe(1);
    stream.onEnd(() => ends++);
    expect(ends).toBe(2);
  });

  it("ends early when it is released while being read", async () => {
    const { stream } = balancesOf(20_000);
    let buffers = 0;
    for await (const _ of stream) {
      buffers++;
      stream.release();
    }
    expect(buffers).toBe(1);
  });

  it("calls its end listeners when its writer fails", async () => {
    // Not a multiple of eight bytes, the size of a balance.
    const stream = SharedStream.of({ writer: "balances", input: { balanceChunks: [new SharedArrayBuffer(7)] } });
    let ends = 0;
    stream.onEnd(() => ends++);
    await expect(read(stream)).rejects.toThrow(RangeError);
    expect(ends).toBe(1);
  });

  it.each([1, 20_000])("can be written synchronously for %d validators", (count) => {
    const { stream, json } = balancesOf(count);
    expect(writeToBuffer(stream.descriptor).toString()).toBe(json);
  });
});
