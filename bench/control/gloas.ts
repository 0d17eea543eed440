import type { NodeProcess } from "../support/node-process.ts";
import { median } from "../support/statistics.ts";
import { percent } from "../support/table.ts";
import { withPausedNode } from "./benched-chain.ts";
import { perSecond, type Row, timed } from "./row.ts";

const ROUNDS = 5;

/** Measures dev_advance on gloas beside the fork before, in turns. */
export function gloasRows(slots: number): Promise<Row[]> {
  return withPausedNode(
    (fulu) =>
      withPausedNode(async (gloas) => {
        const nodes = [fulu, gloas] as const;
        for (const node of nodes) await node.call("dev_advance", [slots]);
        const rounds: [Advanced, Advanced][] = [];
        for (let round = 0; round < ROUNDS; round++) {
          rounds.push([await advance(fulu, slots / ROUNDS), await advance(gloas, slots / ROUNDS)]);
        }
        const ratio = (of: (advanced: Advanced) => number) =>
          percent(median(rounds.map(([before, after]) => of(before) / of(after))));
        return [
          perSecond("dev_advance on fulu, in turns with gloas", slots, sum(rounds.map(([before]) => before))),
          perSecond("dev_advance on gloas", slots, sum(rounds.map(([, after]) => after))),
          {
            what: "speed on gloas, as a share of fulu",
            figure: `${ratio(({ elapsedMs }) => elapsedMs)}, ${ratio(({ spentMs }) => spentMs)} by CPU`,
          },
        ];
      }, "gloas"),
    "fulu",
  );
}

interface Advanced {
  elapsedMs: number;
  spentMs: number;
}

async function advance(node: NodeProcess, slots: number): Promise<Advanced> {
  const before = node.usage.cpuSeconds;
  const { elapsedMs } = await timed(() => node.call("dev_advance", [slots]));
  return { elapsedMs, spentMs: 1000 * (node.usage.cpuSeconds - before) };
}

const sum = (rounds: readonly Advanced[]): Advanced => ({
  elapsedMs: rounds.reduce((total, { elapsedMs }) => total + elapsedMs, 0),
  spentMs: rounds.reduce((total, { spentMs }) => total + spentMs, 0),
});
