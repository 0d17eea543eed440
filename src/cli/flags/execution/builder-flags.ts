import { type BuilderSettings, DEFAULT_BUILDER_SETTINGS } from "../../../chain/production/builder-settings.ts";
import { usageError } from "../../exit.ts";
import { changedFlags, type FlagsOf, type FlagValues, valueFlag, valuesOf } from "../flag.ts";
import { httpUrl, uint64, wholeNumber } from "../flag-values.ts";

const { bidTimeoutMs, boostFactor, fallbackSkips, fallbackSkipsPerEpoch } = DEFAULT_BUILDER_SETTINGS;

/** Builder flags other than the URL, named as in other clients. */
const SETTING_FLAGS = {
  bidTimeoutMs: valueFlag({
    name: "builder-timeout",
    kind: "number",
    placeholder: "MS",
    description: "Timeout for the builder's bid, in milliseconds",
    fallback: bidTimeoutMs,
    parse: wholeNumber(1, 60_000),
  }),
  boostFactor: valueFlag({
    name: "builder-boost-factor",
    kind: "number",
    placeholder: "PERCENT",
    description:
      "Weight of a bid against the local payload, unless the validator client sets it: 0 prefers the local payload, " +
      "2^64-1 the builder's",
    fallback: boostFactor,
    parse: uint64,
  }),
  fallbackSkips: valueFlag({
    name: "builder-fallback-skips",
    kind: "number",
    placeholder: "COUNT",
    description: "Consecutive missed slots after which the builder is not used",
    fallback: fallbackSkips,
    parse: wholeNumber(1),
  }),
  fallbackSkipsPerEpoch: valueFlag({
    name: "builder-fallback-skips-per-epoch",
    kind: "number",
    placeholder: "COUNT",
    description: "Missed slots within the last epoch's worth of slots after which the builder is not used",
    fallback: fallbackSkipsPerEpoch,
    parse: wholeNumber(1),
  }),
} as const satisfies FlagsOf<Omit<BuilderSettings, "url">>;

export const BUILDER_FLAGS = {
  builder: valueFlag({
    name: "builder",
    kind: "text",
    placeholder: "URL",
    description: "Builder API for payloads, such as MEV-Boost or a relay",
    fallback: undefined,
    parse: httpUrl,
  }),
  ...SETTING_FLAGS,
} as const;

/** Converts flags to settings. Returns undefined if there is no builder. */
export function builderSettings(values: FlagValues<typeof BUILDER_FLAGS>): BuilderSettings | undefined {
  if (values.builder !== undefined) return { url: values.builder, ...valuesOf(SETTING_FLAGS, values) };
  const [unused] = changedFlags(SETTING_FLAGS, values);
  if (unused === undefined) return undefined;
  throw usageError(`--${unused} requires --builder, the URL of a builder.`);
}
