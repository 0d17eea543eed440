// The program imports this file before the chain code, so it must stay small.
export { preloadEvm } from "../../evm/thread/start-worker.ts";
