import type { BlobCounts } from "../../../dev/dev-blobs.ts";
import { usageError } from "../../exit.ts";
import { valueFlag } from "../flag.ts";
import { blobCounts } from "../flag-values.ts";
import { parseValidatorList } from "./validator-list.ts";

export function devValidatorsFlag({ description, fallback }: { description: string; fallback: "none" | "all" }) {
  return valueFlag({
    name: "dev-validators",
    kind: "numberOrText",
    placeholder: "none|all|LIST",
    description,
    choices: ["none", "all"],
    fallback: parseValidatorList(fallback),
    fallbackText: fallback,
    parse: parseValidatorList,
  });
}

export function devBlobsFlag(description: string) {
  return valueFlag({
    name: "dev-blobs",
    kind: "numberOrText",
    placeholder: "COUNT|LEAST-MOST",
    description,
    fallback: { min: 0, max: 0 },
    fallbackText: "0",
    parse: blobCounts,
  });
}

/** Throws if the blobs come from another source. */
export function devBlobs(values: { devBlobs: BlobCounts; el: readonly string[]; evm?: boolean }): BlobCounts {
  if (values.evm && values.devBlobs.max > 0) {
    throw usageError("--dev-blobs and --evm are mutually exclusive: the EVM has the blobs of its transactions.");
  }
  if (values.el.length > 0 && values.devBlobs.max > 0) {
    throw usageError(
      "--dev-blobs and --el are mutually exclusive: with an execution client, blobs come from its transactions.",
    );
  }
  return values.devBlobs;
}
