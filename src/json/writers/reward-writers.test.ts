import { expect, it } from "vitest";
import { SharedStream } from "../shared-stream.ts";
import { type RewardRow, RewardRows } from "./reward-writers.ts";

function rewards(count: number, factor: number): RewardRow[] {
  return Array.from({ length: count }, (_, index) => ({
    key: index * factor,
    head: index * 7,
    target: -index * 11,
    source: index % 3 === 0 ? -0 : index,
    inclusionDelay: index * 13,
    inactivity: -index * 4e9,
  }));
}

function rowsOf(all: RewardRow[]): Float64Array {
  const rows = new RewardRows(all.length);
  for (const row of all) rows.add(row);
  return rows.rows;
}

it.each([true, false])("writes rewards as JSON, with inclusion delays: %s", async (hasInclusionDelays) => {
  const ideal = rewards(3, 1e9);
  const total = rewards(5000, 1);
  const json = (name: string, { key, head, target, source, inclusionDelay, inactivity }: RewardRow) => ({
    [name]: String(key),
    head: String(head),
    target: String(target),
    source: String(source),
    ...(hasInclusionDelays && { inclusion_delay: String(inclusionDelay) }),
    inactivity: String(inactivity),
  });
  const input = { ideal: rowsOf(ideal), total: rowsOf(total), hasInclusionDelays };
  const buffers: Buffer[] = [];
  for await (const buffer of SharedStream.of({ writer: "attestationRewards", input })) buffers.push(buffer);
  expect(buffers.length).toBeGreaterThan(1);
  expect(JSON.parse(Buffer.concat(buffers).toString())).toEqual({
    ideal_rewards: ideal.map((row) => json("effective_balance", row)),
    total_rewards: total.map((row) => json("validator_index", row)),
  });
});
