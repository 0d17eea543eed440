/** Options for the call tracer. */
export interface CallTracerOptions {
  /** Omits inner calls. */
  readonly onlyTopCall?: boolean | undefined;
  /** Adds the logs of each call. */
  readonly withLog?: boolean | undefined;
}

/** Options for the prestate tracer. */
export interface PrestateTracerOptions {
  /** Returns only the changed fields, with their values before and after. */
  readonly diffMode?: boolean | undefined;
  readonly disableCode?: boolean | undefined;
  readonly disableStorage?: boolean | undefined;
  /** Includes accounts that did not exist before the transaction. */
  readonly includeEmpty?: boolean | undefined;
}

/** Options for the struct logger. */
export interface StructLoggerOptions {
  readonly enableMemory?: boolean | undefined;
  readonly disableStack?: boolean | undefined;
  readonly disableStorage?: boolean | undefined;
  readonly enableReturnData?: boolean | undefined;
  /** Maximum number of recorded steps. */
  readonly limit?: number | undefined;
}

export interface TraceOptions extends StructLoggerOptions {
  /** Absent to use the struct logger. */
  tracer?: "callTracer" | "prestateTracer" | "4byteTracer" | "noopTracer" | undefined;
  tracerConfig?: (CallTracerOptions & PrestateTracerOptions) | undefined;
}
