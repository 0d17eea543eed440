/**
 * Measures the real node on states with very many validators: starts, long answers compared with a bare `node:http`
 * server that sends the same bytes, a live chain with small calls and readers of long lists, disk writes, and the list
 * of validators in the page.
 *
 *     npm run bench -- scale [--validators 1000000] [--only TEXT] [--beside DIRECTORY] [--rounds 3]
 *                           [--slot-seconds 6] [--lead SECONDS]
 *
 * `--only` selects a subject (starts, answers, live chain, epochs on disk, page) or a part of the title of an answer;
 * `--beside` is another checkout to measure in the same run. Blocks of the live chain are recorded ahead of time:
 * `--lead` is the time for that, by default a minute per million validators. States are built once and cached in
 * `.bench/scale`, or in `$BENCH_DIR/scale`.
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { benchScale } from "./scale/run.ts";

const { values } = parseArgs({
  options: {
    validators: { type: "string", default: "1000000" },
    only: { type: "string" },
    beside: { type: "string" },
    rounds: { type: "string", default: "3" },
    "slot-seconds": { type: "string", default: "6" },
    lead: { type: "string" },
  },
});
await benchScale({
  validators: Number(values.validators),
  only: values.only,
  beside: values.beside === undefined ? undefined : resolve(values.beside),
  rounds: Number(values.rounds),
  slotSeconds: Number(values["slot-seconds"]),
  leadSeconds: values.lead === undefined ? undefined : Number(values.lead),
});
