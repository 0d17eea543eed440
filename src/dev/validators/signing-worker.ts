// Runs in a worker thread. It loads the signature library and nothing else of the node, so that it starts in
// milliseconds and needs neither preset nor configuration.
import { workerData } from "node:worker_threads";
import { makeSignature, type SigningRequest } from "./signing-request.ts";
import type { SignedAhead, SigningWorkerData } from "./signing-thread.ts";

const { port } = workerData as SigningWorkerData;

port.on("message", (requests: SigningRequest[]) => {
  for (const request of requests) {
    // To decompress a signature would cost whoever takes it a tenth of what it saves.
    const signature = makeSignature(request).toBytes(false);
    port.postMessage({ request, signature } satisfies SignedAhead);
  }
});
