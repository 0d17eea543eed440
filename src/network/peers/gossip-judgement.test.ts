import { describe, expect, it } from "vitest";
import { GossipJudgement } from "./gossip-judgement.ts";
import { HandTimers } from "./hand-timers.test-support.ts";
import { PeerScores } from "./peer-scores.ts";

const THRESHOLDS = { gossipThreshold: -4_000, graylistThreshold: -16_000 };

function judged(gossipScore: number) {
  const scores = new PeerScores({ timers: new HandTimers() });
  const gossip = { getScore: () => gossipScore, opts: { scoreThresholds: THRESHOLDS } };
  return { scores, judgement: new GossipJudgement({ gossip, reporter: scores }) };
}

describe("the judgement by gossip", () => {
  it("sends away a peer that gossip no longer listens to", () => {
    const { scores, judgement } = judged(-16_001);
    for (let second = 0; second < 4; second++) judgement.onTick("a");
    expect(scores.allows("a")).toBe(false);
  });

  it("leaves to gossip what gossip bears", () => {
    const { scores, judgement } = judged(-16_000);
    for (let second = 0; second < 100; second++) judgement.onTick("a");
    expect(scores.score("a")).toBe(0);
  });

  it("remembers who leaves with a bad score, and lets others come and go", () => {
    const bad = judged(-4_001);
    for (let time = 0; time < 4; time++) bad.judgement.onDisconnect("a");
    expect(bad.scores.allows("a")).toBe(false);
    const fair = judged(-3_999);
    for (let time = 0; time < 100; time++) fair.judgement.onDisconnect("a");
    expect(fair.scores.score("a")).toBe(0);
  });
});
