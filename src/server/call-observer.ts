/** The ways by which calls come in. */
export type CallServer = "json-rpc" | "websocket" | "rest";

/** Somebody who watches the calls of all servers; a server that has none does nothing for it. */
export interface CallObserver {
  /** A call begins; `method` is undefined when it names none that exists. */
  begin(server: CallServer, method: string | undefined): ObservedCall;
}

export interface ObservedCall {
  /** The answer, or its beginning, is there; `errorCode`, which is that of the protocol, when it is an error. */
  readonly end: (errorCode?: number) => void;
  /** So many bytes of the answer, before they are compressed; those of a stream as they are read, after the end of the call. */
  readonly bytes: (count: number) => void;
}
