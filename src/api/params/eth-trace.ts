import type { BlockOverrides, StateOverrides } from "../../evm/eth/calls/call-request.ts";
import type { TraceOptions } from "../../evm/eth/traces/trace-options.ts";
import { blockOverrides, stateOverrides } from "./eth-call.ts";
import { type FieldSchemas, optionalFields } from "./objects.ts";
import { boolean } from "./scalars.ts";
import { type ParamSchema, paramSchema } from "./schema.ts";

const TRACERS = [
  "callTracer",
  "prestateTracer",
  "4byteTracer",
  "noopTracer",
] as const satisfies TraceOptions["tracer"][];

const tracer: ParamSchema<NonNullable<TraceOptions["tracer"]>> = paramSchema(
  `one of ${TRACERS.map((name) => `"${name}"`).join(", ")}. Without a tracer, every opcode is recorded`,
  { type: "string", enum: [...TRACERS] },
  (value) => TRACERS.find((name) => name === value),
);

const count: ParamSchema<number> = paramSchema(
  "an integer from 0 to 2^31-1",
  { type: "integer", minimum: 0 },
  (value) =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31 ? (value as number) : undefined,
);

const TRACE_FIELDS: FieldSchemas<TraceOptions> = {
  tracer,
  tracerConfig: optionalFields("an object of options of the tracer", {
    onlyTopCall: boolean,
    withLog: boolean,
    diffMode: boolean,
    disableCode: boolean,
    disableStorage: boolean,
    includeEmpty: boolean,
  }),
  enableMemory: boolean,
  disableStack: boolean,
  disableStorage: boolean,
  enableReturnData: boolean,
  limit: count,
};

export const traceOptions: ParamSchema<TraceOptions> = optionalFields<TraceOptions>(
  "an object of options",
  TRACE_FIELDS,
);

/** Options for a traced call, including overrides. */
export const traceCallOptions: ParamSchema<
  TraceOptions & { stateOverrides?: StateOverrides; blockOverrides?: BlockOverrides }
> = optionalFields("an object of options", { ...TRACE_FIELDS, stateOverrides, blockOverrides });
