import { InvalidChainError } from "../../dev/invalid-chain-error.ts";
import { AmbiguousNetworkError } from "../../gateway/network/network-pin.ts";
import { StartError, type StartErrorKind } from "../../node/start-error.ts";
import { missingNativeModule, missingNativeModuleMessage } from "../../runtime/native-modules.ts";
import { type ExitReason, StartupError, usageError } from "../exit.ts";

/** Exit reason for a start error, and the advice appended to its message. */
interface ErrorExit {
  reason: ExitReason;
  advice?: string;
}

const portInUse = (flag: string): ErrorExit => ({
  reason: "listen",
  advice: `; stop that one, or give another ${flag}`,
});

const ERROR_EXITS: Record<StartErrorKind, ErrorExit> = {
  dataDirInUse: { reason: "dataDirInUse", advice: "; stop that one, or give another --data-dir" },
  dataDirDamaged: {
    reason: "dataDirUnusable",
    advice:
      '; "fanal db check" gives details, "fanal db repair" salvages what is readable; ' +
      "or restore a backup, or give another --data-dir",
  },
  unexecutableBlock: {
    reason: "dataDirUnusable",
    advice:
      '; start the version of Fanal that made the block, drop it and all later ones with "fanal db rewind SLOT", ' +
      "or give another --data-dir",
  },
  dataDirUnusable: { reason: "dataDirUnusable" },
  dataDirForbidden: { reason: "dataDirUnusable", advice: "; it must be writable by this user" },
  dataDirFailed: {
    reason: "dataDirFailed",
    advice: "; all acknowledged blocks are stored: fix or free the disk, and restart",
  },
  dataDirSchema: { reason: "dataDirMismatch" },
  otherChain: { reason: "dataDirMismatch", advice: "; give another --data-dir" },
  otherSchedule: {
    reason: "dataDirMismatch",
    advice: "; give the fork schedule that it was synced with, or another --data-dir",
  },
  otherDevChain: {
    reason: "dataDirMismatch",
    advice: "; give the flags it was created with, another --data-dir, or --reset to start over",
  },
  unverifiableState: {
    reason: "usage",
    advice: "; start it without --p2p, give another --data-dir, or --reset to start over",
  },
  tooFarBehind: {
    reason: "usage",
    advice: "; start without --catch-up to continue where the chain stopped, or with --reset to start over",
  },
  noExecutionClient: {
    reason: "noAnswer",
    advice: "; a new dev chain with --el starts from the genesis block of its execution client, which must be running",
  },
  genesisTooLate: { reason: "usage", advice: "; give an earlier --genesis-time" },
  executionClientHasBlocks: {
    reason: "usage",
    advice: "; a new dev chain requires a client without blocks: start it with an empty data directory",
  },
  otherDepositChain: {
    reason: "usage",
    advice: "; leave out --deposit-chain-id to use the client's",
  },
  otherExecutionChain: {
    reason: "usage",
    advice:
      "; give the --el client that the chain was created with, or --reset for a new chain with this client, " +
      "which must have an empty data directory",
  },
  executionGenesisTooLate: {
    reason: "usage",
    advice: "; give a later --genesis-time or fewer --warmup-epochs, or wait until then",
  },
  noState: {
    reason: "usage",
    advice: ": give --checkpoint-sync-url, or a file or a URL with --checkpoint-state or --genesis-state",
  },
  notGenesisState: { reason: "unreadableInput", advice: "; --checkpoint-state starts from a later state" },
  unreadableInput: { reason: "unreadableInput" },
  noKzgBackend: { reason: "usage", advice: "; install it, or start with --kzg auto" },
  rpcPortInUse: portInUse("--rpc-port"),
  ethRpcPortInUse: portInUse("--eth-rpc-port"),
  restPortInUse: portInUse("--rest-port"),
  signerPortInUse: portInUse("--signer-port"),
  metricsPortInUse: portInUse("--metrics-port"),
  p2pPortInUse: portInUse("--p2p-port"),
  p2pAddressUnusable: { reason: "listen", advice: "; give another --p2p-address or --p2p-port" },
  cannotListen: { reason: "listen" },
};

/**
 * Converts a known error to a `StartupError` with advice on which flags to use. Returns undefined for an unexpected
 * error. `customAdvice` replaces the default advice.
 */
export function asStartupError(error: unknown, customAdvice?: string): StartupError | undefined {
  if (error instanceof StartupError) return error;
  if (error instanceof AmbiguousNetworkError) return usageError(error.message, error);
  if (error instanceof InvalidChainError) return usageError(error.message, error);
  const missing = missingNativeModule(error);
  if (missing) return usageError(missingNativeModuleMessage(missing), error);
  if (!(error instanceof StartError)) return undefined;
  const { reason, advice = "" } = ERROR_EXITS[error.kind];
  return new StartupError(reason, error.message.replace(/\.$/, `${customAdvice ?? advice}.`), error);
}
