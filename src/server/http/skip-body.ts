import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers";

/** Where Node's parser of HTTP has what it calls with each piece of a body. It calls nothing when nothing is there. */
const ON_BODY = 3;
const CALLED_ON_BODY = "parserOnBody";

type Parser = Record<number, unknown>;

/**
 * Nobody gets anything more of the body in what was read from the connection by now: up to 64 KiB, which may be ten thousand chunks,
 * and Node, which has no way to stop in the midst of it, would take tens of milliseconds to hand them on one by one. To be
 * called when nothing more is read from the connection.
 */
export function skipBody({ socket }: IncomingMessage): void {
  const { parser } = socket as Socket & { parser?: Parser | null };
  const onBody = parser?.[ON_BODY];
  // This is no documented part of Node; where it is otherwise, the pieces are handed on and dropped.
  if (!parser || typeof onBody !== "function" || onBody.name !== CALLED_ON_BODY) return;
  parser[ON_BODY] = undefined;
  // Another connection gets the same parser when this one is gone.
  setImmediate(() => {
    parser[ON_BODY] = onBody;
  });
}
