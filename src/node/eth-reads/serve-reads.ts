import type { MessagePort } from "node:worker_threads";
import { ethFailure } from "../../api/eth-failure.ts";
import { bindEthReads } from "../../api/eth-reads.ts";
import { EthError } from "../../evm/eth/eth-error.ts";
import type { ReadCall } from "../../evm/reads/read-host.ts";
import type { ReadName } from "../../evm/reads/read-limits.ts";
import { serveMethods } from "../../server/thread/direct/serve-methods.ts";

/** Answers calls from the server thread by reading from a replica. */
export function serveReads(read: ReadCall, port: MessagePort): void {
  const methods = bindEthReads(async (name, args, signal) => {
    try {
      return await read(name as ReadName, args, signal);
    } catch (error) {
      throw error instanceof EthError ? ethFailure(error) : error;
    }
  });
  serveMethods(port, methods);
}
