import { createPeerScoreParams, validatePeerScoreParams } from "@libp2p/gossipsub/score";
import { createBeaconConfig } from "@lodestar/config";
import { expect, it } from "vitest";
import { devChainConfig } from "../../dev/chain-config.ts";
import { SCORE_THRESHOLDS, scoreParameters } from "./score-parameters.ts";
import { GossipTopics } from "./topics.ts";

const forks = [{ fork: "electra", epoch: 0 } as const, { fork: "fulu", epoch: 1 } as const];

it.each([1, 64, 1_000_000])("gossipsub accepts the parameters for %i validators", (activeValidators) => {
  for (const slotSeconds of [1, 12]) {
    const config = createBeaconConfig(devChainConfig({ forks, slotSeconds, genesisTime: 0 }), new Uint8Array(32));
    const params = scoreParameters(config, new GossipTopics(config), { activeValidators });
    expect(() => validatePeerScoreParams(createPeerScoreParams(params))).not.toThrow();
    for (const topic of Object.values(params.topics)) {
      expect(Object.values(topic).filter((value) => !Number.isFinite(value))).toEqual([]);
    }
  }
});

it("one invalid message is tolerated, a dozen outweigh everything, on any topic", () => {
  const config = createBeaconConfig(devChainConfig({ forks, slotSeconds: 12, genesisTime: 0 }), new Uint8Array(32));
  const { topics, topicScoreCap } = scoreParameters(config, new GossipTopics(config), { activeValidators: 500_000 });
  const names = Object.keys(topics);
  const perFork = 7 + 64 + 4;
  expect(names.length).toBe(2 * perFork + 9 + 128);
  for (const { topicWeight, invalidMessageDeliveriesWeight } of Object.values(topics)) {
    const scoreAfter = (count: number) => topicScoreCap + topicWeight * invalidMessageDeliveriesWeight * count ** 2;
    expect(scoreAfter(1)).toBeGreaterThan(SCORE_THRESHOLDS.gossipThreshold);
    expect(scoreAfter(13)).toBeLessThan(SCORE_THRESHOLDS.graylistThreshold);
  }
});
