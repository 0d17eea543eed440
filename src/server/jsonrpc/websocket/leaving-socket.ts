import { WebSocket } from "ws";

/** RFC 6455, section 7.4.1. */
const MESSAGE_TOO_BIG = 1009;

/**
 * Asks before it answers a client that takes leave, or that has sent what is no message: nothing can be sent afterwards, and what it
 * has asked before may not be answered yet.
 */
export class LeavingSocket extends WebSocket {
  /** What a client is told that has sent a message of more bytes than are taken. */
  tooLarge: string | undefined;
  /** Calls `leave` when nothing more is to be sent. */
  onLeave: (leave: () => void) => void = (leave) => leave();

  /** Is called by the WebSocket itself, with no reason, when the other side ends the connection or breaks a rule. */
  override close(code?: number, reason = code === MESSAGE_TOO_BIG ? this.tooLarge : undefined): void {
    if (this.readyState === this.OPEN) this.onLeave(() => super.close(code, reason));
    else super.close(code, reason);
  }

  /** Whatever is not answered yet. */
  closeAtOnce(code: number, reason: string): void {
    super.close(code, reason);
  }
}
