import { describe, expect, it } from "vitest";
import { FakeTimers } from "../../../test/support/time/fake-timers.ts";
import { GossipPenalties } from "./gossip-penalties.ts";
import { PeerScores } from "./peer-scores.ts";

const THRESHOLDS = { gossipThreshold: -4_000, graylistThreshold: -16_000 };

function scored(gossipScore: number) {
  const scores = new PeerScores({ timers: new FakeTimers() });
  const gossip = { getScore: () => gossipScore, opts: { scoreThresholds: THRESHOLDS } };
  return { scores, penalties: new GossipPenalties({ gossip, reporter: scores }) };
}

describe("GossipPenalties", () => {
  it("disconnects a graylisted peer", () => {
    const { scores, penalties } = scored(-16_001);
    for (let second = 0; second < 4; second++) penalties.onTick("a");
    expect(scores.allows("a")).toBe(false);
  });

  it("ignores scores above the graylist threshold", () => {
    const { scores, penalties } = scored(-16_000);
    for (let second = 0; second < 100; second++) penalties.onTick("a");
    expect(scores.score("a")).toBe(0);
  });

  it("penalizes only peers that disconnect with a bad score", () => {
    const bad = scored(-4_001);
    for (let time = 0; time < 4; time++) bad.penalties.onDisconnect("a");
    expect(bad.scores.allows("a")).toBe(false);
    const fair = scored(-3_999);
    for (let time = 0; time < 100; time++) fair.penalties.onDisconnect("a");
    expect(fair.scores.score("a")).toBe(0);
  });
});
