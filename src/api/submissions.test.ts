import { expect, it } from "vitest";
import { countTurns } from "../../test/support/time/event-loop.ts";
import { GossipValidationError, type Outcome } from "../chain/validation/outcome.ts";
import { submitAll } from "./submissions.ts";

it("processes a long list in parts and yields to the event loop", async () => {
  const items = Array.from({ length: 3000 }, (_, index) => ({ index }));
  const turn = countTurns();
  const takenInTurn = new Map<number, number>();
  const sent: number[] = [];
  const process = async (some: readonly { index: number }[]): Promise<Outcome<string>[]> => {
    takenInTurn.set(turn(), (takenInTurn.get(turn()) ?? 0) + some.length);
    return some.map(({ index }) =>
      index % 1000 === 999
        ? { ok: false, refusal: new GossipValidationError("reject", "unknown-block", `${index} is bad.`) }
        : { ok: true, value: "" },
    );
  };
  await expect(submitAll(items, process, ({ index }) => sent.push(index))).rejects.toMatchObject({
    failures: [999, 1999, 2999].map((index) => ({ index, message: `${index} is bad.` })),
  });
  expect(sent).toEqual(items.map(({ index }) => index).filter((index) => index % 1000 !== 999));
  expect(Math.max(...takenInTurn.values())).toBeLessThanOrEqual(1024);
});
