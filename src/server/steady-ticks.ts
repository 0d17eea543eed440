import { executionAsyncResource } from "node:async_hooks";

const kept: object[] = [];

/**
 * Keeps what Node puts off to the next tick of the event loop cheap; to be called once in each thread that serves. Node makes an
 * object for each of these, some ten for a call. V8 forgets their form when it collects garbage while there is none of them, does not
 * learn it again, and from then on takes ten times as long to make one. So one of them stays.
 */
export function keepTicksCheap(): void {
  process.nextTick(() => kept.push(executionAsyncResource()));
}
