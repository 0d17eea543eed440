import { executionAsyncResource } from "node:async_hooks";

const kept: object[] = [];

/**
 * Keeps what Node puts off to the next tick of the event loop cheap. It makes an object for each of these, some ten for a call that is
 * served. When V8 collects garbage while there is none of them it may forget their form; it does not learn it again, and from then on takes
 * ten times as long to make one. So one of them stays: to be called once in each thread that serves, before there is much garbage.
 */
export function keepTicksCheap(): void {
  process.nextTick(() => kept.push(executionAsyncResource()));
}
