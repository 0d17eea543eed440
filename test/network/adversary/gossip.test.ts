import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { RPC } from "@libp2p/gossipsub/message";
import { compressSync } from "snappy";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeVarint } from "../../../src/network/reqresp/ssz-snappy.ts";
import { variants } from "../../support/suite/tier.ts";
import type { Adversary } from "./support/adversary.ts";
import { eventually, Scenario } from "./support/scenario.ts";

/** Enough on any topic to graylist the sender. */
const ENOUGH = 24;
const MEBIBYTE = 1 << 20;

let scenario: Scenario;
beforeAll(async () => {
  scenario = await Scenario.begin({ forks: [{ fork: "altair", epoch: 0 }] });
});
afterAll(async () => {
  const complaints = scenario.complaints();
  await scenario.end();
  expect(complaints).toEqual([]);
});

const blockTopic = () => scenario.pubsub.getTopics().find((topic) => topic.includes("/beacon_block/"))!;
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const messages = (count: number, make: (index: number) => Partial<RPC.Message>): RPC.Message[] =>
  times(count, (i) => ({ topic: blockTopic(), ...make(i) }));
/** Random contents. */
const compressed = (bytes: number) => compressSync(randomBytes(bytes));

const ATTACKS: [what: string, attack: (adversary: Adversary) => Promise<unknown>][] = [
  [
    "garbage on every topic",
    async (adversary) => {
      const topics = scenario.pubsub.getTopics();
      await adversary.publish(...topics.flatMap((topic) => messages(ENOUGH, () => ({ topic, data: randomBytes(99) }))));
    },
  ],
  [
    "compressed garbage of a possible size",
    (adversary) => adversary.publish(...messages(ENOUGH, () => ({ data: compressed(1000) }))),
  ],
  [
    "bombs, whether they say so or not",
    async (adversary) => {
      const bomb = compressSync(Buffer.alloc(32 * MEBIBYTE));
      const lying = (i: number) => Buffer.concat([encodeVarint(1000 + i), bomb.subarray(4)]);
      await adversary.publish({ topic: blockTopic(), data: bomb });
      for (const message of messages(ENOUGH, (i) => ({ data: lying(i) }))) await adversary.publish(message);
    },
  ],
  [
    "messages with a sender, a number or a signature",
    async (adversary) => {
      const fields = ["from", "seqno", "signature"] as const;
      for (const field of fields) {
        await adversary.publish(...messages(ENOUGH, () => ({ data: compressed(500), [field]: randomBytes(32) })));
      }
    },
  ],
  [
    "envelopes that are none",
    async (adversary) => {
      for (let i = 0; i < 10 * ENOUGH; i++) await adversary.gossipBytes(Buffer.alloc(100, 0xff));
    },
  ],
  [
    "envelopes larger than any, again and again",
    async (adversary) => {
      while (scenario.isConnected(adversary)) {
        await adversary.gossipRaw(Buffer.concat([encodeVarint(100 * MEBIBYTE), Buffer.alloc(1000)]));
        await setImmediate();
      }
    },
  ],
];

describe("a peer whose gossip is", () => {
  it.concurrent.each(variants({ fast: ATTACKS.slice(0, 1), full: ATTACKS.slice(1) }))(
    "%s is disconnected, and the node continues",
    async (_what, attack) => {
      const adversary = await scenario.adversary();
      await attack(adversary);
      await scenario.expectSentAway(adversary);
      await scenario.expectFollowing();
    },
  );
});

describe("messages without a penalty are dropped at once:", () => {
  it("unjoined topics, of any or no fork, and grafts to them", async () => {
    const adversary = await scenario.adversary();
    const names = times(2000, (i) => `/eth2/${randomBytes(4).toString("hex")}/beacon_block_${i}/ssz_snappy`);
    const before = internals().mcache.size;
    await adversary.gossip({
      subscriptions: names.map((topic) => ({ subscribe: true, topic })),
      messages: names.map((topic) => ({ topic, data: compressed(10) })),
      control: {
        graft: names.map((topicID) => ({ topicID })),
        prune: names.map((topicID) => ({ topicID, peers: [] })),
        ihave: names.map((topicID) => ({ topicID, messageIDs: [randomBytes(20)] })),
        iwant: [],
        idontwant: [],
      },
    });
    // RPCs are read in order: once this one is, earlier ones were.
    await adversary.gossip({ subscriptions: [{ subscribe: true, topic: blockTopic() }] });
    await eventually(() => expect(subscribers()).toContain(adversary.peerId));
    expect([...internals().topics.keys()].filter((topic) => names.includes(topic))).toEqual([]);
    expect([...scenario.pubsub.mesh.keys()].filter((topic) => names.includes(topic))).toEqual([]);
    expect(internals().mcache.size - before).toBeLessThan(100);
    expect(adversary.heard.flatMap(({ control }) => control?.iwant ?? [])).toEqual([]);
    await scenario.expectFollowing();
  });

  it("thousands of advertised messages cause bounded requests", async () => {
    const adversary = await scenario.adversary();
    await adversary.gossip({ subscriptions: [{ subscribe: true, topic: blockTopic() }] });
    // Requests before the node has a stream to the adversary are lost and not repeated.
    await eventually(() => expect(adversary.heard).not.toEqual([]));
    const heartbeats = countHeartbeats();
    for (let i = 0; i < 20; i++) {
      const ihave = [{ topicID: blockTopic(), messageIDs: times(4000, () => randomBytes(20)) }];
      await adversary.gossip({ control: { ihave, iwant: [], graft: [], prune: [], idontwant: [] } });
    }
    const iwant = [{ messageIDs: times(4000, () => randomBytes(20)) }];
    await adversary.gossip({ control: { iwant, ihave: [], graft: [], prune: [], idontwant: [] } });
    const wanted = () =>
      adversary.heard.flatMap(({ control }) => control?.iwant.flatMap((want) => want.messageIDs) ?? []);
    await eventually(() => expect(wanted().length).toBeGreaterThan(0));
    await scenario.expectFollowing();
    expect(wanted().length).toBeLessThanOrEqual(5000 * (heartbeats() + 1));
  });
});

const subscribers = () => scenario.pubsub.getSubscribers(blockTopic()).map((peerId) => peerId.toString());

interface Internals {
  topics: ReadonlyMap<string, unknown>;
  mcache: { size: number };
}
const internals = () => scenario.pubsub as unknown as Internals;

function countHeartbeats(): () => number {
  let count = 0;
  scenario.pubsub.addEventListener("gossipsub:heartbeat", () => count++);
  return () => count;
}
