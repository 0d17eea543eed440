/**
 * What the JSON-RPC door costs: requests per second through it, against a bare `node:http` server that reads the same request
 * and answers the same bytes. Both and the load generator are processes of their own; the servers take turns.
 *
 *     npm run bench -- door [rounds] [seconds a round]
 *
 * The exit code is 1 when the door reaches less than 60 % of the bare server, or a batch of 100 calls less than 5 times
 * the rate of single calls.
 */
import { benchDoor } from "./door/run.ts";

const isWithinBudget = await benchDoor({
  rounds: Number(process.argv[2] ?? 9),
  seconds: Number(process.argv[3] ?? 2),
});
process.exitCode = isWithinBudget ? 0 : 1;
