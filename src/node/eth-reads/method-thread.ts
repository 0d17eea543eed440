import { ethFailure } from "../../api/eth-failure.ts";
import { ETH_READS, SHORT_ETH_READS } from "../../api/eth-reads.ts";
import type { DevEvm } from "../../dev/evm/dev-evm.ts";
import { readLimit } from "../../evm/reads/read-limits.ts";
import { GRACE_MS, timeoutError } from "../../evm/reads/read-thread.ts";
import type { LaneLimits } from "../../server/lane.ts";
import type { MethodThread } from "../../server/thread/direct/method-thread.ts";
import { SERVER_ERRORS } from "../../server/thread/messages/errors.ts";

/** Adapts the read thread to the interface used by the server thread. */
export function ethMethodThread({ thread, eth }: DevEvm, lane: LaneLimits): MethodThread {
  const methods = [...ETH_READS, ...SHORT_ETH_READS].map((method) => {
    const { name } = method;
    const limitMs = readLimit(name === "eth_getLogs" ? "getLogs" : "call");
    const timeout = SERVER_ERRORS.serialize(ethFailure(timeoutError(limitMs)));
    return { name, isShort: SHORT_ETH_READS.includes(method), limitMs, timeout };
  });
  return {
    methods: { methods, lane, graceMs: GRACE_MS },
    publish: () => eth.update(),
    onConnection: (listener) => thread.onReadConnection(listener),
  };
}
