/** Protocol of a call. */
export type CallServer = "json-rpc" | "websocket" | "rest";

/** Observes calls to all servers, for metrics and logs. */
export interface CallObserver {
  /** Starts a call. `method` is undefined if it does not exist. */
  begin(server: CallServer, method: string | undefined): ObservedCall;
}

export interface ObservedCall {
  /** Ends the call when the response begins. `errorCode` is the protocol's error code if the call failed. */
  readonly end: (errorCode?: number) => void;
  /** Counts response bytes before compression. For streams, called as they are read, even after `end`. */
  readonly bytes: (count: number) => void;
}
