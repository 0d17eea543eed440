/**
 * Measures the time from process start to the first answer, and to a finalized history.
 *
 *     npm run bench -- startup [runs]
 */
import { benchStartup } from "./startup/run.ts";

await benchStartup(Number(process.argv[2] ?? 5));
