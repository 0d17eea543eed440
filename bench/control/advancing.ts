import { setTimeout as sleep } from "node:timers/promises";
import type { NodeProcess } from "../support/node-process.ts";
import { median } from "../support/statistics.ts";
import { withPausedNode } from "./benched-chain.ts";
import { perSecond, type Row, timed } from "./row.ts";
import { timeSignature } from "./signature.ts";

/** Lets the JIT compile the hot paths before the measurement. */
const WARM_UP_SLOTS = 1000;
const POLL_MS = 20;

/** Measures dev_advance, alone and while another client polls the head. */
export function advancingRows(slots: number): Promise<Row[]> {
  return withPausedNode(async (node) => {
    const advance = () => timed(() => node.call("dev_advance", [slots]));
    await node.call("dev_advance", [WARM_UP_SLOTS]);
    const signature = await timeSignature();
    const before = node.usage.cpuSeconds;
    const { elapsedMs } = await advance();
    const spentMs = 1000 * (node.usage.cpuSeconds - before);
    const polled = await whilePolled(node, advance);
    const worst = Math.max(...polled.answerMs).toFixed(1);
    return [
      perSecond(`dev_advance of ${slots} slots`, slots, { elapsedMs, spentMs }),
      {
        what: "a slot, in BLS signatures of the same run",
        figure:
          `${(elapsedMs / slots / signature.elapsedMs).toFixed(1)}, ` +
          `${(spentMs / slots / signature.spentMs).toFixed(1)} by CPU`,
      },
      perSecond(`the same with getChainHead every ${POLL_MS} ms`, slots, {
        elapsedMs: polled.during.elapsedMs,
      }),
      {
        what: "getChainHead meanwhile",
        figure: `${median(polled.answerMs).toFixed(1)} ms median, ${worst} ms longest`,
      },
    ];
  });
}

async function whilePolled<T>(node: NodeProcess, work: () => Promise<T>): Promise<{ during: T; answerMs: number[] }> {
  const answerMs: number[] = [];
  let isOver = false;
  const during = work().finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const begin = performance.now();
    await node.head();
    answerMs.push(performance.now() - begin);
    await sleep(POLL_MS);
  }
  return { during: await during, answerMs };
}
