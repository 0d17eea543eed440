// Entry point of the EVM thread.
import { parentPort } from "node:worker_threads";
import { cacheModuleResolution } from "../../runtime/module-resolution.ts";
import { servePool } from "../../threads/thread-pool.ts";

if (parentPort === null) throw new Error("This module must run in a worker thread");
cacheModuleResolution();
const { createEvmCrypto } = await import("../crypto.ts");
const { EvmHost } = await import("./evm-host.ts");
const crypto = createEvmCrypto();
servePool(parentPort, (port) => new EvmHost(port, crypto));
