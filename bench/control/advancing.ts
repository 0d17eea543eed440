import { setTimeout as sleep } from "node:timers/promises";
import type { NodeProcess } from "../support/node-process.ts";
import { median } from "../support/statistics.ts";
import { withPausedNode } from "./benched-chain.ts";
import { perSecond, type Row, timed } from "./row.ts";

/** So that the compiler has seen everything before something is measured. */
const WARM_UP_SLOTS = 1000;
const POLL_MS = 20;

/** One call of the program, alone and while another client asks for the head all the time. */
export function advancingRows(slots: number): Promise<Row[]> {
  return withPausedNode(async (node) => {
    const advance = () => timed(() => node.call("dev_advance", [slots]));
    await node.call("dev_advance", [WARM_UP_SLOTS]);
    const before = node.usage.cpuSeconds;
    const { elapsedMs } = await advance();
    const spentMs = 1000 * (node.usage.cpuSeconds - before);
    const asked = await whileAsked(node, advance);
    const worst = Math.max(...asked.answerMs).toFixed(1);
    return [
      perSecond(`dev_advance of ${slots} slots`, slots, { elapsedMs, spentMs }),
      perSecond(`the same while getChainHead is asked every ${POLL_MS} ms`, slots, {
        elapsedMs: asked.during.elapsedMs,
      }),
      {
        what: "what getChainHead takes meanwhile",
        figure: `${median(asked.answerMs).toFixed(1)} ms in the middle, ${worst} ms at worst`,
      },
    ];
  });
}

async function whileAsked<T>(node: NodeProcess, work: () => Promise<T>): Promise<{ during: T; answerMs: number[] }> {
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
