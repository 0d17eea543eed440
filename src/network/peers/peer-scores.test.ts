import { describe, expect, it } from "vitest";
import { FakeTimers } from "../../../test/support/time/fake-timers.ts";
import { PeerScores, type Severity } from "./peer-scores.ts";

const MINUTE = 60_000;

function setUp(maxRecords?: number) {
  const timers = new FakeTimers();
  const scores = new PeerScores({ timers, maxRecords });
  const falls: string[] = [];
  scores.onDemotion((peerId, standing, reason) => falls.push(`${peerId} ${standing}: ${reason}`));
  /** Returns the number of offences of a given severity that lead to a disconnect. */
  const strikes = (severity: Severity) => {
    let count = 0;
    do scores.penalize(severity, severity, "");
    while (++count < 1_000 && scores.allows(severity));
    return count;
  };
  return { timers, scores, falls, strikes };
}

describe("PeerScores", () => {
  it("tolerates many mild offences and no fatal one", () => {
    const { strikes } = setUp();
    expect(strikes("fatal")).toBe(1);
    expect(strikes("severe")).toBeOneOf([3, 4]);
    expect(strikes("moderate")).toBeOneOf([9, 10, 11]);
    expect(strikes("mild")).toBeGreaterThan(40);
  });

  it("decays with time, so that rare offences never add up", async () => {
    const { timers, scores } = setUp();
    scores.penalize("a", "moderate", "");
    const before = scores.score("a");
    await timers.advance(10 * MINUTE);
    expect(scores.score("a")).toBeCloseTo(before / 2);
    for (let i = 0; i < 100; i++) {
      scores.penalize("a", "severe", "");
      await timers.advance(10 * MINUTE);
    }
    expect(scores.allows("a")).toBe(true);
  });

  it("reports a demotion once with its reason, and allows the peer again later", async () => {
    const { timers, scores, falls } = setUp();
    for (let i = 0; i < 5; i++) scores.penalize("a", "severe", "bad blocks");
    expect(falls).toEqual(["a poor: bad blocks"]);
    expect(scores.standing("a")).toBe("poor");
    await timers.advance(MINUTE);
    expect(scores.allows("a")).toBe(false);
    await timers.advance(2 * MINUTE);
    expect(scores.allows("a")).toBe(true);
    for (let i = 0; i < 4; i++) scores.penalize("a", "severe", "bad blocks again");
    expect(falls).toHaveLength(2);
  });

  it("bans longer than it disconnects, also an already disconnected peer", async () => {
    const { timers, scores, falls } = setUp();
    for (let i = 0; i < 4; i++) scores.penalize("a", "severe", "one");
    scores.penalize("a", "fatal", "two");
    expect(falls).toEqual(["a poor: one", "a banned: two"]);
    await timers.advance(29 * MINUTE);
    expect(scores.allows("a")).toBe(false);
    expect(scores.score("a")).toBeGreaterThanOrEqual(-100);
    await timers.advance(2 * MINUTE);
    expect(scores.allows("a")).toBe(true);
  });

  it("evicts bans last", () => {
    const { scores } = setUp(10);
    scores.penalize("banned", "fatal", "");
    for (let i = 0; i < 50; i++) scores.penalize(`peer ${i}`, "mild", "");
    const remembered = Array.from({ length: 50 }, (_, i) => `peer ${i}`).filter((id) => scores.score(id) < 0);
    expect(remembered).toHaveLength(9);
    expect(remembered).toContain("peer 49");
    expect(scores.allows("banned")).toBe(false);
  });
});
