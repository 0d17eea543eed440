// Entry point of the EVM's thread.
import { parentPort } from "node:worker_threads";
import { EvmHost } from "./evm-host.ts";

if (parentPort === null) throw new Error("This module must run in a worker thread");
new EvmHost(parentPort);
