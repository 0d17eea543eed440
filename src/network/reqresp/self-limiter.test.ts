import { describe, expect, it } from "vitest";
import { TokenBucket } from "../../async/token-bucket.ts";
import { protocolId } from "./protocols.ts";
import { RequestQueue, RequestQuotas } from "./self-limiter.ts";

const never = new AbortController().signal;

describe("RequestQueue", () => {
  it("limits concurrency in FIFO order", async () => {
    const queue = new RequestQueue(2, 10);
    const began: string[] = [];
    const take = async (name: string) => {
      const end = await queue.take("kind", never);
      began.push(name);
      return end;
    };
    const endA = await take("a");
    await take("b");
    const waiting = [take("c"), take("d")];
    const endOther = await queue.take("another kind", never);
    endOther();

    expect(began).toEqual(["a", "b"]);
    endA();
    endA();
    const endC = await waiting[0];
    expect(began).toEqual(["a", "b", "c"]);
    endC?.();
    await waiting[1];
    expect(began).toEqual(["a", "b", "c", "d"]);
  });

  it("drops aborted requests, and rejects when it is full", async () => {
    const queue = new RequestQueue(1, 1);
    const end = await queue.take("kind", never);
    const giving = new AbortController();
    const queued = queue.take("kind", giving.signal);

    await expect(queue.take("kind", never)).rejects.toMatchObject({ failure: "disconnected" });
    giving.abort();
    await expect(queued).rejects.toMatchObject({ failure: "disconnected" });
    await expect(queue.take("kind", giving.signal)).rejects.toMatchObject({ failure: "disconnected" });
    end();
    await expect(queue.take("kind", never)).resolves.toBeTypeOf("function");
  });
});

describe("RequestQuotas", () => {
  it("respects the quotas of peers that refuse requests", () => {
    let milliseconds = 0;
    const timers = { now: () => milliseconds };
    const quotas = new RequestQuotas(timers);
    const granted = new TokenBucket({ burst: 128, perSecond: 12.8 }, timers);
    for (let request = 0; request < 20; request++) {
      milliseconds += quotas.delay("peer", "beacon_blocks_by_root", 32, []);
      expect(granted.delayFor(32)).toBe(0);
      granted.take(32);
    }
    expect(milliseconds).toBeGreaterThan(0);
  });

  it("does not limit requests to peers that delay responses", () => {
    const quotas = new RequestQuotas({ now: () => 0 });
    const modern = [protocolId({ name: "status", version: 2 })];

    const delays = Array.from({ length: 20 }, () => quotas.delay("peer", "beacon_blocks_by_root", 100, modern));

    expect(Math.max(...delays)).toBe(0);
  });
});
