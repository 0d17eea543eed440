// Entry point of the thread for reads.
import { parentPort } from "node:worker_threads";
import { cacheModuleResolution } from "../../runtime/module-resolution.ts";

if (parentPort === null) throw new Error("This module must run in a worker thread");
cacheModuleResolution();
const { ReadHost } = await import("./read-host.ts");
new ReadHost(parentPort);
