import { describe, expect, test } from "vitest";
import { TokenBucket } from "../rates/token-bucket.ts";
import { protocolId } from "./protocols.ts";
import { RequestPace } from "./request-pace.ts";

describe("the pace of our own requests", () => {
  test("keeps to what a node grants that refuses whoever asks too often", () => {
    let milliseconds = 0;
    const now = () => milliseconds;
    const pace = new RequestPace(now);
    const granted = new TokenBucket({ burst: 128, perSecond: 12.8 }, now);
    for (let request = 0; request < 20; request++) {
      milliseconds += pace.delay("peer", "beacon_blocks_by_root", 32, []);
      expect(granted.delayFor(32)).toBe(0);
      granted.take(32);
    }
    expect(milliseconds).toBeGreaterThan(0);
  });

  test("is left to peers that withhold", () => {
    const pace = new RequestPace(() => 0);
    const modern = [protocolId({ name: "status", version: 2 })];

    const delays = Array.from({ length: 20 }, () => pace.delay("peer", "beacon_blocks_by_root", 100, modern));

    expect(Math.max(...delays)).toBe(0);
  });
});
