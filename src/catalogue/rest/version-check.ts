import type { ChainForkConfig } from "@lodestar/config";
import type { ForkName } from "@lodestar/params";
import { requireSlashingVersion, requireVersion, requireVoteVersion } from "../consensus-version.ts";

type Check = (given: ForkName, config: ChainForkConfig, args: never) => void;

interface Vote {
  data: { slot: number };
}
interface SignedBlock {
  message: { slot: number };
}

/** How the fork that a request names is compared with what it brings, by operation. */
const CHECKS: Record<string, Check> = {
  publishBlockV2: (given, config, args: { signedBlockContents: { signedBlock: SignedBlock } }) =>
    requireVersion(given, config.getForkName(args.signedBlockContents.signedBlock.message.slot)),
  publishBlindedBlockV2: (given, config, args: { signedBlindedBlock: SignedBlock }) =>
    requireVersion(given, config.getForkName(args.signedBlindedBlock.message.slot)),
  submitPoolAttestationsV2: (given, config, args: { signedAttestations: Vote[] }) => {
    for (const { data } of args.signedAttestations) requireVoteVersion(given, config.getForkName(data.slot));
  },
  publishAggregateAndProofsV2: (
    given,
    config,
    args: { signedAggregateAndProofs: { message: { aggregate: Vote } }[] },
  ) => {
    for (const { message } of args.signedAggregateAndProofs) {
      requireVoteVersion(given, config.getForkName(message.aggregate.data.slot));
    }
  },
  submitPoolAttesterSlashingsV2: (
    given,
    config,
    args: { attesterSlashing: Record<"attestation1" | "attestation2", { data: { slot: bigint } }> },
  ) => {
    const { attestation1, attestation2 } = args.attesterSlashing;
    const slot = Math.max(Number(attestation1.data.slot), Number(attestation2.data.slot));
    requireSlashingVersion(given, config.getForkName(slot));
  },
};

/** SSZ is decoded by the fork that its sender names, which must be the one that the object has by its slot. */
export function requireNamedVersion(
  operation: string,
  config: ChainForkConfig,
  version: string | undefined,
  args: unknown,
): void {
  if (version !== undefined) CHECKS[operation]?.(version.toLowerCase() as ForkName, config, args as never);
}
