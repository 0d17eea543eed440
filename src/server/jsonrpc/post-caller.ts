import { unsupported } from "../../errors.ts";
import type { Caller } from "../method-table.ts";

/** Who calls by POST hears nothing but answers; for more there is WebSocket. */
export function createPostCaller(webSocketUrl: string): Caller {
  const refuse = () => {
    throw unsupported(`Events are sent over WebSocket only: connect to ${webSocketUrl} and call the method there.`);
  };
  return { subscribe: refuse, unsubscribe: refuse };
}
