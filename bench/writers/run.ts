import { releaseBuffer } from "../../src/json/buffer-pool.ts";
import { median } from "../support/statistics.ts";
import { printHeader, printRow } from "../support/table.ts";
import { type BenchedResponse, otherResponses, responsesFor } from "./responses.ts";

const SMALL = 64;
/** Repetitions of small responses per measurement. */
const REPETITIONS = 500;

/** Measures CPU time per response with both encoders in turn, and prints medians. */
export async function benchWriters({ validators, rounds }: { validators: number; rounds: number }): Promise<void> {
  printHeader("response", "codec, ms", "writer, ms", "codec / writer");
  await compareAll(`${SMALL} validators`, responsesFor(SMALL), rounds, REPETITIONS);
  await compareAll(`${validators.toLocaleString("en")} validators`, responsesFor(validators), rounds, 1);
  await compareAll("", otherResponses(), rounds, 5);
}

async function compareAll(
  size: string,
  responses: readonly BenchedResponse[],
  rounds: number,
  repetitions: number,
): Promise<void> {
  for (const { title, generic, special } of responses) {
    const times: { generic: number[]; special: number[] } = { generic: [], special: [] };
    for (let round = 0; round <= rounds; round++) {
      const measured = {
        generic: await cpuMillis(repetitions, async () => generic()),
        special: await cpuMillis(repetitions, special),
      };
      // The first round warms up.
      if (round === 0) continue;
      times.generic.push(measured.generic);
      times.special.push(measured.special);
    }
    const [codec, writer] = [median(times.generic), median(times.special)];
    const name = [title, size].filter((part) => part !== "").join(", ");
    printRow(name, codec.toFixed(3), writer.toFixed(3), (codec / writer).toFixed(1));
  }
}

async function cpuMillis(repetitions: number, respond: () => Promise<Buffer | AsyncIterable<Buffer>>): Promise<number> {
  const before = process.cpuUsage();
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const body = await respond();
    if (Buffer.isBuffer(body)) continue;
    for await (const buffer of body) releaseBuffer(buffer);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / repetitions;
}
