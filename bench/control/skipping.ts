import { withPausedNode } from "./benched-chain.ts";
import { type Row, timed } from "./row.ts";

const SKIPPED_SLOTS = 2048;

/** Measures empty slots, and the first block after them, whose state transition processes all skipped epochs. */
export function skippingRows(): Promise<Row[]> {
  return withPausedNode(async (node) => {
    await node.call("dev_advance", [1]);
    const skipped = await timed(() => node.call("dev_skip", [SKIPPED_SLOTS]));
    const followed = await timed(() => node.call("dev_advance", [1]));
    const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(2)} s`;
    return [
      { what: `dev_skip of ${SKIPPED_SLOTS} slots`, figure: seconds(skipped.elapsedMs) },
      { what: "the first block after them", figure: seconds(followed.elapsedMs) },
    ];
  });
}
