// Entry point of the EVM thread.
import { parentPort } from "node:worker_threads";
import { cacheModuleResolution } from "../../runtime/module-resolution.ts";

if (parentPort === null) throw new Error("This module must run in a worker thread");
cacheModuleResolution();
const { EvmHost } = await import("./evm-host.ts");
new EvmHost(parentPort);
