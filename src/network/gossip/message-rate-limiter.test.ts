import { expect, it } from "vitest";
import { MessageRateLimiter } from "./message-rate-limiter.ts";

const MANY = 1_000_000;

function floodUntilRefused(budget: MessageRateLimiter, peerId: string, joined: string[], peers = 1) {
  for (let sent = 0; sent < MANY; sent += 100) {
    const outcome = budget.take(peerId, 100, { joined, peers });
    if (outcome !== "ok") return { sent, outcome };
  }
  return { sent: MANY, outcome: "ok" };
}

it("the rate limit of a peer grows with the joined topics", () => {
  let now = 0;
  const budget = new MessageRateLimiter(() => 1000, { now: () => now });
  const { sent: few, outcome } = floodUntilRefused(budget, "p", ["a"]);
  expect(few).toBeLessThan(MANY);
  expect(outcome).toBe("peer limit");
  expect(floodUntilRefused(budget, "q", ["a", "b"]).sent).toBeGreaterThan(few * 1.5);

  now += 10_000;
  const recovered = floodUntilRefused(budget, "p", ["a"]).sent;
  // Messages at an honest peer's expected rate are accepted indefinitely.
  expect(recovered).toBeGreaterThanOrEqual(10 * 1000);
  expect(recovered).toBeLessThan(few);
});

it("the total rate is limited, without affecting a peer within its share", () => {
  let now = 0;
  const budget = new MessageRateLimiter(() => 1000, { now: () => now });
  const joined = ["a"];
  const floodBy = (peers: number) => {
    let sent = 0;
    for (let number = 0; number < peers; number++) {
      sent += floodUntilRefused(budget, `${peers} ${number}`, joined, peers + 1).sent;
    }
    return sent;
  };
  const alone = floodUntilRefused(budget, "p", joined).sent;
  now += 1_000_000;
  const byMany = floodBy(100);
  expect(byMany).toBeLessThan(20 * alone);
  expect(floodUntilRefused(budget, "100 99", joined, 101).outcome).toBe("total limit");
  expect(budget.take("honest", 100, { joined, peers: 101 })).toBe("ok");

  // The total does not grow with the number of peers.
  now += 1_000_000;
  expect(floodBy(400)).toBeLessThan(1.2 * byMany);
});

it("a dozen honest peers that deliver everything pass indefinitely", () => {
  let now = 0;
  const budget = new MessageRateLimiter(() => 1000, { now: () => now });
  const joined = ["a", "b"];
  const outcomes = new Set<string>();
  for (let second = 0; second < 120; second++) {
    now += 1000;
    for (let peer = 0; peer < 12; peer++) outcomes.add(budget.take(String(peer), 2000, { joined, peers: 60 }));
  }
  expect([...outcomes]).toEqual(["ok"]);
});
