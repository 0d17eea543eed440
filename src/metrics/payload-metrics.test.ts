import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { advance, openDevChain } from "../../test/support/chain/dev-chain.ts";
import { Instruments } from "./instruments.ts";
import { addPayloadMetrics } from "./payload-metrics.ts";

it("counts payloads that are imported, missed and invalid, and measures when they arrive", async () => {
  const { devChain } = await openDevChain({ forks: [{ fork: "gloas", epoch: 0 }] });
  const registry = new Registry();
  addPayloadMetrics(new Instruments(registry), devChain.chain);
  const { payloads } = devChain.control;
  const seconds = 0.6 * devChain.chain.clock.secondsPerSlot;
  await advance(devChain, 2);
  await payloads.schedule("withhold", { count: 2 });
  await advance(devChain, 4);
  await payloads.schedule("invalid", { count: 1 });
  await advance(devChain, 5);
  // Later than it is due.
  await payloads.delay({ slotsLate: 0, seconds }, { count: 1 });
  await advance(devChain, 7);

  const metrics = await registry.getMetricsAsJSON();
  const samples = metrics.flatMap(({ name, values }) =>
    values.map(({ value, ...sample }) => ["metricName" in sample ? sample.metricName : name, value]),
  );
  expect(Object.fromEntries(samples)).toMatchObject({
    fanal_payloads_imported_total: 4,
    fanal_missed_payloads_total: 4,
    fanal_invalid_payloads_total: 1,
    fanal_payload_delay_seconds_count: 4,
    fanal_payload_delay_seconds_sum: expect.closeTo(seconds),
  });
});
