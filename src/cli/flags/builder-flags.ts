import { type BuilderOptions, DEFAULT_BUILDER_OPTIONS } from "../../node/execution/builder-options.ts";
import { usageError } from "../exit.ts";
import { type FlagValues, valueFlag } from "./flag.ts";
import { httpUrl, uint64, wholeNumber } from "./flag-values.ts";

const { bidTimeoutMs, boostFactor, missedSlots } = DEFAULT_BUILDER_OPTIONS;

/** How payloads are had from builders; the names are those of other clients. */
export const BUILDER_FLAGS = {
  builder: valueFlag({
    name: "builder",
    kind: "text",
    placeholder: "URL",
    description: "Builder to ask for payloads, such as MEV-Boost or a relay",
    fallback: undefined,
    parse: httpUrl,
  }),
  builderTimeout: valueFlag({
    name: "builder-timeout",
    kind: "number",
    placeholder: "MS",
    description: "How many milliseconds the builder's bid for a block is waited for",
    fallback: bidTimeoutMs,
    parse: wholeNumber(1, 60_000),
  }),
  builderBoostFactor: valueFlag({
    name: "builder-boost-factor",
    kind: "number",
    placeholder: "PERCENT",
    description:
      "By how much a bid is weighed against the node's own payload, where the validator client does not say it: 0 prefers " +
      "the own payload, 2^64-1 the builder's",
    fallback: boostFactor,
    parse: uint64,
  }),
  builderFallbackSkips: valueFlag({
    name: "builder-fallback-skips",
    kind: "number",
    placeholder: "COUNT",
    description: "Slots without a block in a row at which the builder is not asked any more",
    fallback: missedSlots.inARow,
    parse: wholeNumber(1),
  }),
  builderFallbackSkipsPerEpoch: valueFlag({
    name: "builder-fallback-skips-per-epoch",
    kind: "number",
    placeholder: "COUNT",
    description:
      "Slots without a block among the last, as many as an epoch has, at which the builder is not asked any more",
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

/** Undefined when there is none. */
export function builderOptions(values: FlagValues<typeof BUILDER_FLAGS>): BuilderOptions | undefined {
  if (values.builder === undefined) {
    const needless = BUILDER_SETTINGS.find((key) => values[key] !== BUILDER_FLAGS[key].fallback);
    if (needless === undefined) return undefined;
    throw usageError(`--${BUILDER_FLAGS[needless].name} is of no use without --builder, the URL of a builder.`);
  }
  return {
    url: values.builder,
    bidTimeoutMs: values.builderTimeout,
    boostFactor: values.builderBoostFactor,
    missedSlots: { inARow: values.builderFallbackSkips, inAnEpoch: values.builderFallbackSkipsPerEpoch },
  };
}
