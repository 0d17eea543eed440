import { describe, expect, it } from "vitest";
import { FakeTimers } from "../../../test/support/time/fake-timers.ts";
import { PeerBans } from "./peer-bans.ts";
import { PeerScores } from "./peer-scores.ts";

const MINUTE = 60_000;
const PUBLIC_IP = "192.0.2.1";

function setUp(maxBans?: number) {
  const timers = new FakeTimers();
  return { timers, bans: new PeerBans({ timers, maxBans }), scores: new PeerScores({ timers }) };
}

function banPeers(bans: PeerBans, count: number, ip: string | undefined): void {
  for (let number = 0; number < count; number++) bans.add(`${ip} ${number}`, ip);
}

describe("PeerBans", () => {
  it("bans an address only after several peer ids", () => {
    const { bans } = setUp();
    banPeers(bans, 4, PUBLIC_IP);
    bans.add(`${PUBLIC_IP} 0`, PUBLIC_IP);
    bans.add("elsewhere", "192.0.2.2");
    expect(bans.allowsAddress(PUBLIC_IP)).toBe(true);
    bans.add("one more", PUBLIC_IP);
    expect(bans.allowsAddress(PUBLIC_IP)).toBe(false);
    expect(bans.allowsAddress("192.0.2.2")).toBe(true);
  });

  it.each([
    "127.0.0.1",
    "::1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.0.1",
    "fe80::1",
    "fd00::1",
    undefined,
  ])("never refuse %s", (ip) => {
    const { bans } = setUp();
    banPeers(bans, 100, ip);
    expect(bans.list()).toHaveLength(100);
    expect(bans.allowsAddress(ip ?? "")).toBe(true);
  });

  it("expire", async () => {
    const { timers, bans } = setUp();
    banPeers(bans, 5, PUBLIC_IP);
    await timers.advance(29 * MINUTE);
    expect(bans.allowsAddress(PUBLIC_IP)).toBe(false);
    await timers.advance(2 * MINUTE);
    expect(bans.allowsAddress(PUBLIC_IP)).toBe(true);
    expect(bans.list()).toEqual([]);
  });

  it("continue after a restart for their remaining time", async () => {
    const { timers, bans } = setUp();
    banPeers(bans, 5, PUBLIC_IP);
    await timers.advance(20 * MINUTE);
    const scores = new PeerScores({ timers });
    const restored = new PeerBans({ timers });
    restored.restore(bans.list(), scores);
    expect(restored.list()).toEqual(bans.list());
    expect(restored.allowsAddress(PUBLIC_IP)).toBe(false);
    expect(scores.standing(`${PUBLIC_IP} 0`)).toBe("banned");
    await timers.advance(11 * MINUTE);
    expect(restored.allowsAddress(PUBLIC_IP)).toBe(true);
    expect(scores.standing(`${PUBLIC_IP} 0`)).toBe("good");
  });

  it("are restored only if active, and never beyond the ban duration", async () => {
    const { timers, bans, scores } = setUp();
    const now = timers.unixNow();
    bans.restore(
      [
        { peerId: "expired", address: null, until: now },
        { peerId: "of a clock that was set back", address: null, until: now + 1_000 * MINUTE },
      ],
      scores,
    );
    expect(bans.list().map(({ peerId }) => peerId)).toEqual(["of a clock that was set back"]);
    expect(scores.allows("expired")).toBe(true);
    await timers.advance(31 * MINUTE);
    expect(bans.list()).toEqual([]);
    expect(scores.allows("of a clock that was set back")).toBe(true);
  });

  it("are bounded, the oldest are evicted first", () => {
    const { bans } = setUp(3);
    for (const peerId of ["a", "b", "c", "a", "d"]) bans.add(peerId, PUBLIC_IP);
    expect(bans.list().map(({ peerId }) => peerId)).toEqual(["c", "a", "d"]);
  });
});
