import type { WebSocket } from "ws";
import { PIECE_OVERHEAD_BYTES } from "../../http/exchanges.ts";

/** What a WebSocket has of a message that is not complete. This is no documented part of it; where it is otherwise, nothing is known. */
interface Receiver {
  /** The kind of a message of which some parts are complete, or 0. */
  _fragmented?: number;
  /** Pieces of a part that is not. */
  _buffers?: unknown[];
  _bufferedBytes?: number;
}

/** How much memory that takes; undefined while some parts of a message are complete, each of which may hold more than itself. */
export function heldFrames(webSocket: WebSocket): number | undefined {
  const { _receiver: receiver } = webSocket as WebSocket & { _receiver?: Receiver };
  if (receiver?._fragmented !== 0 || receiver._bufferedBytes === undefined || !receiver._buffers) return undefined;
  return receiver._bufferedBytes + receiver._buffers.length * PIECE_OVERHEAD_BYTES;
}
