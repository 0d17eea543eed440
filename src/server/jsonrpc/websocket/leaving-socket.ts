import { WebSocket } from "ws";

/**
 * Asks before it answers a client that takes leave, or that has sent what is no message: nothing can be sent afterwards, and what it
 * has asked before may not be answered yet.
 */
export class LeavingSocket extends WebSocket {
  /** Calls `leave` when nothing more is to be sent. */
  onLeave: (leave: () => void) => void = (leave) => leave();

  /** Is called by the WebSocket itself when the other side ends the connection. */
  override close(code?: number, reason?: string | Buffer): void {
    if (this.readyState === this.OPEN) this.onLeave(() => super.close(code, reason));
    else super.close(code, reason);
  }

  /** Whatever is not answered yet. */
  closeAtOnce(code: number, reason: string): void {
    super.close(code, reason);
  }
}
