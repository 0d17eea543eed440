import type { CompositeTypeAny } from "@chainsafe/ssz";
import { describe, expect, it } from "vitest";
import { sampleStates, treeOf } from "../../test/support/ssz/sample-states.ts";
import { countTurns } from "../../test/support/time/event-loop.ts";
import { streamSszJson } from "./ssz-json-stream.ts";

async function collect(type: CompositeTypeAny, value: unknown): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of streamSszJson(type, treeOf(type, value))) chunks.push(chunk);
  return chunks;
}

describe("streamSszJson", () => {
  const states = sampleStates();

  it.each(states)("writes a state as its codec does: $fork", async ({ type, value }) => {
    expect(Buffer.concat(await collect(type, value)).toString()).toBe(JSON.stringify(type.toJson(value)));
  });

  it("writes one buffer of up to 256 KiB per turn of the event loop, also with concurrent streams", async () => {
    const { type, value } = states[0]!;
    const node = treeOf(type, value);
    const turn = countTurns();
    const turns: number[] = [];
    const read = async () => {
      for await (const chunk of streamSszJson(type, node)) {
        turns.push(turn());
        expect(chunk.length).toBeLessThanOrEqual(256 * 1024);
      }
    };
    await Promise.all([read(), read()]);
    expect(turns.length).toBeGreaterThan(4);
    expect(new Set(turns).size).toBe(turns.length);
  });
});
