import { describe, expect, it } from "vitest";
import { FakeTimers } from "../../../test/support/fake-timers.ts";
import { PeerScores, type Severity } from "./peer-scores.ts";

const MINUTE = 60_000;

function setUp(maxRecords?: number) {
  const timers = new FakeTimers();
  const scores = new PeerScores({ timers, maxRecords });
  const falls: string[] = [];
  scores.onFall((peerId, standing, reason) => falls.push(`${peerId} ${standing}: ${reason}`));
  /** How many misdeeds of the kind it takes until the peer must go. */
  const strikes = (severity: Severity) => {
    let count = 0;
    do scores.penalize(severity, severity, "");
    while (++count < 1_000 && scores.allows(severity));
    return count;
  };
  return { timers, scores, falls, strikes };
}

describe("scores of peers", () => {
  it("bear with little faults for long, and with great ones not at all", () => {
    const { strikes } = setUp();
    expect(strikes("fatal")).toBe(1);
    expect(strikes("severe")).toBeOneOf([3, 4]);
    expect(strikes("moderate")).toBeOneOf([9, 10, 11]);
    expect(strikes("mild")).toBeGreaterThan(40);
  });

  it("forgive with time, so that rare faults never add up", async () => {
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

  it("send a peer away once, with the reason, and let it come back later", async () => {
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

  it("ban longer than they send away, also who was sent away already", async () => {
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

  it("remember a bounded number of peers, and bans longest", () => {
    const { scores } = setUp(10);
    scores.penalize("banned", "fatal", "");
    for (let i = 0; i < 50; i++) scores.penalize(`peer ${i}`, "mild", "");
    const remembered = Array.from({ length: 50 }, (_, i) => `peer ${i}`).filter((id) => scores.score(id) < 0);
    expect(remembered).toHaveLength(9);
    expect(remembered).toContain("peer 49");
    expect(scores.allows("banned")).toBe(false);
  });
});
