import type { Socket } from "node:net";
import { setImmediate } from "node:timers";

/**
 * What Node's parser of HTTP calls, by where it has it. It calls nothing where nothing is. This is no documented part of Node; where it is
 * otherwise, all of it goes on to be called.
 */
const CALLED = { onHeadersComplete: 2, onBody: 3, onMessageComplete: 4 };
const NAMES: Readonly<Record<number, string>> = {
  [CALLED.onHeadersComplete]: "parserOnHeadersComplete",
  [CALLED.onBody]: "parserOnBody",
  [CALLED.onMessageComplete]: "parserOnMessageComplete",
};

type Parser = Record<number, unknown>;

/**
 * Node reads up to 64 KiB at once from a connection, which may be ten thousand chunks of a body or a thousand requests, and has no
 * way to stop in the midst of them: to hand them on one by one takes tens of milliseconds. These have it drop the rest of what was read. They
 * are to be called when nothing more is read from the connection.
 */

/** Nobody gets anything more of the body; its end is told. */
export function skipBody(socket: Socket): void {
  skip(socket, [CALLED.onBody]);
}

/** There is no other request, and no end of this one. Only for a connection that is destroyed. */
export function skipRequests(socket: Socket): void {
  skip(socket, [CALLED.onHeadersComplete, CALLED.onBody, CALLED.onMessageComplete]);
}

function skip(socket: Socket, places: readonly number[]): void {
  const { parser } = socket as Socket & { parser?: Parser | null };
  if (!parser) return;
  const skipped = places.map((place) => [place, parser[place]] as const);
  if (!skipped.every(([place, called]) => typeof called === "function" && called.name === NAMES[place])) return;
  for (const [place] of skipped) parser[place] = undefined;
  // Another connection gets the same parser when this one is gone, which may be sooner than the next turn.
  const restore = () => {
    for (const [place, called] of skipped) parser[place] = called;
  };
  setImmediate(restore);
  socket.once("close", restore);
}
