import { type BuilderOptions, DEFAULT_BUILDER_OPTIONS } from "../../../node/execution/builder-options.ts";
import { usageError } from "../../exit.ts";
import { type FlagValues, valueFlag } from "../flag.ts";
import { httpUrl, uint64, wholeNumber } from "../flag-values.ts";

const { bidTimeoutMs, boostFactor, missedSlots } = DEFAULT_BUILDER_OPTIONS;

/** Builder flags, named as in other clients. */
export const BUILDER_FLAGS = {
  builder: valueFlag({
    name: "builder",
    kind: "text",
    placeholder: "URL",
    description: "Builder API for payloads, such as MEV-Boost or a relay",
    fallback: undefined,
    parse: httpUrl,
  }),
  builderTimeout: valueFlag({
    name: "builder-timeout",
    kind: "number",
    placeholder: "MS",
    description: "Timeout for the builder's bid, in milliseconds",
    fallback: bidTimeoutMs,
    parse: wholeNumber(1, 60_000),
  }),
  builderBoostFactor: valueFlag({
    name: "builder-boost-factor",
    kind: "number",
    placeholder: "PERCENT",
    description:
      "Weight of a bid against the local payload, unless the validator client sets it: 0 prefers the local payload, " +
      "2^64-1 the builder's",
    fallback: boostFactor,
    parse: uint64,
  }),
  builderFallbackSkips: valueFlag({
    name: "builder-fallback-skips",
    kind: "number",
    placeholder: "COUNT",
    description: "Consecutive missed slots after which the builder is not used",
    fallback: missedSlots.inARow,
    parse: wholeNumber(1),
  }),
  builderFallbackSkipsPerEpoch: valueFlag({
    name: "builder-fallback-skips-per-epoch",
    kind: "number",
    placeholder: "COUNT",
    description: "Missed slots within the last epoch's worth of slots after which the builder is not used",
    fallback: missedSlots.inAnEpoch,
    parse: wholeNumber(1),
  }),
} as const;

const BUILDER_SETTINGS = [
  "builderTimeout",
  "builderBoostFactor",
  "builderFallbackSkips",
  "builderFallbackSkipsPerEpoch",
] as const;

/** Returns the builder options; undefined without a builder. */
export function builderOptions(values: FlagValues<typeof BUILDER_FLAGS>): BuilderOptions | undefined {
  if (values.builder === undefined) {
    const needless = BUILDER_SETTINGS.find((key) => values[key] !== BUILDER_FLAGS[key].fallback);
    if (needless === undefined) return undefined;
    throw usageError(`--${BUILDER_FLAGS[needless].name} requires --builder, the URL of a builder.`);
  }
  return {
    url: values.builder,
    bidTimeoutMs: values.builderTimeout,
    boostFactor: values.builderBoostFactor,
    missedSlots: { inARow: values.builderFallbackSkips, inAnEpoch: values.builderFallbackSkipsPerEpoch },
  };
}
