// Entry point of the read thread.
import { parentPort } from "node:worker_threads";
import { cacheModuleResolution } from "../../runtime/module-resolution.ts";

if (parentPort === null) throw new Error("This module must run in a worker thread");
cacheModuleResolution();
const { ReadHost } = await import("../../evm/reads/read-host.ts");
// Imported only for the first read, because loading the module takes as long as loading the EVM.
new ReadHost(parentPort, async (read, port) => {
  const { serveReads } = await import("./serve-reads.ts");
  serveReads(read, port);
});
