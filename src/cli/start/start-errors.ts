import { ImpossibleChainError } from "../../dev/impossible-chain.ts";
import { StartError, type StartErrorKind } from "../../node/start-error.ts";
import { missingNativeModule, missingNativeModuleMessage } from "../../runtime/native-modules.ts";
import { type ExitReason, StartupError, usageError } from "../exit.ts";

/** How the process ends, and how the sentence goes on that says why: with what to do about it. */
interface Ending {
  reason: ExitReason;
  advice?: string;
}

const portInUse = (flag: string): Ending => ({
  reason: "listen",
  advice: `; stop that one, or give another ${flag}`,
});

const ENDINGS: Record<StartErrorKind, Ending> = {
  dataDirInUse: { reason: "dataDirInUse", advice: "; stop that one, or give another --data-dir" },
  dataDirDamaged: {
    reason: "dataDirUnusable",
    advice:
      '; "fanal db check" says more, "fanal db repair" keeps what can be kept; or restore it from a copy, or give another --data-dir',
  },
  dataDirUnusable: { reason: "dataDirUnusable" },
  dataDirForbidden: { reason: "dataDirUnusable", advice: "; this user has to be able to write to it" },
  dataDirFailed: {
    reason: "dataDirFailed",
    advice: "; all blocks that the node acknowledged are kept: mend or free the disk, and start again",
  },
  dataDirSchema: { reason: "dataDirMismatch" },
  otherChain: { reason: "dataDirMismatch", advice: "; give another --data-dir" },
  otherSchedule: {
    reason: "dataDirMismatch",
    advice: "; give the schedule that it was synced with, or another --data-dir",
  },
  otherDevChain: {
    reason: "dataDirMismatch",
    advice: "; give the flags it was created with, another --data-dir, or --reset to start over",
  },
  tooFarBehind: {
    reason: "usage",
    advice: "; start without --catch-up to go on where the chain stopped, or with --reset to start over",
  },
  noExecutionClient: {
    reason: "noAnswer",
    advice: "; a new dev chain with --el begins with the genesis block of its execution client, which has to run",
  },
  genesisTooLate: { reason: "usage", advice: "; give an earlier --genesis-time" },
  executionClientHasBlocks: {
    reason: "usage",
    advice: "; a new dev chain needs a client without any: start it with an empty data directory",
  },
  otherDepositChain: {
    reason: "usage",
    advice: "; leave out --deposit-chain-id to use the client's",
  },
  otherExecutionChain: {
    reason: "usage",
    advice:
      "; give the --el client that the chain was made with, or --reset for a new chain with this client, which must have an empty data directory",
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
  restPortInUse: portInUse("--rest-port"),
  metricsPortInUse: portInUse("--metrics-port"),
  p2pPortInUse: portInUse("--p2p-port"),
  p2pAddressUnusable: { reason: "listen", advice: "; give another --p2p-address or --p2p-port" },
  cannotListen: { reason: "listen" },
};

/**
 * What a node could not start or go on for, in the words of the command line, with the given advice or else that for whoever starts
 * a node; undefined for what nobody foresaw.
 */
export function asStartupError(error: unknown, given?: string): StartupError | undefined {
  if (error instanceof StartupError) return error;
  if (error instanceof ImpossibleChainError) return usageError(error.message, error);
  const missing = missingNativeModule(error);
  if (missing) return usageError(missingNativeModuleMessage(missing), error);
  if (!(error instanceof StartError)) return undefined;
  const { reason, advice = "" } = ENDINGS[error.kind];
  return new StartupError(reason, error.message.replace(/\.$/, `${given ?? advice}.`), error);
}
