/**
 * Measures vitest with eight files that each test a contract: with a chain per file, in isolated workers and not, with
 * one attached chain, and with an Anvil per file. Uses the packed package.
 *
 *     npm run bench -- vitest [rounds]
 */
import { benchVitest } from "./vitest/run.ts";

await benchVitest(Number(process.argv[2] ?? 3));
