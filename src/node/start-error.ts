/** Reasons why a node cannot start or continue, all of which the operator can fix. */
export type StartErrorKind =
  | "dataDirInUse"
  | "dataDirDamaged"
  /** The EVM of this version rejects a stored block. */
  | "unexecutableBlock"
  | "dataDirUnusable"
  /** No permission to read or write the data directory. */
  | "dataDirForbidden"
  /** A write to the database failed. */
  | "dataDirFailed"
  /** The database has the schema of a different version. */
  | "dataDirSchema"
  /** The data directory contains the chain of a different network, or is not a dev chain. */
  | "otherChain"
  /** The stored chain passed forks at epochs that differ from the network's current schedule. */
  | "otherSchedule"
  /** The data directory contains a dev chain with different parameters. */
  | "otherDevChain"
  /** Other nodes could not verify the state of the stored dev chain. */
  | "unverifiableState"
  /** The dev chain missed more slots than it may leave empty. */
  | "tooFarBehind"
  /** The warm-up history of a new dev chain would end in the future. */
  | "genesisTooLate"
  /** The execution client required for a new dev chain is unavailable. */
  | "noExecutionClient"
  /** The execution client of a new dev chain is not on the chain of the deposit contract. */
  | "otherDepositChain"
  /** The execution client has a different chain than the stored dev chain. */
  | "otherExecutionChain"
  /** The execution client's genesis is later than that of a new dev chain. */
  | "executionGenesisTooLate"
  /** The execution client of a new dev chain already has blocks after genesis. */
  | "executionClientHasBlocks"
  /** A new node has no state to start from. */
  | "noState"
  | "notGenesisState"
  /** A state, block, secret or network file is unreadable or invalid. */
  | "unreadableInput"
  /** The selected KZG backend does not load on this platform. */
  | "noKzgBackend"
  | "rpcPortInUse"
  | "ethRpcPortInUse"
  | "restPortInUse"
  | "signerPortInUse"
  | "metricsPortInUse"
  | "p2pPortInUse"
  | "p2pAddressUnusable"
  | "cannotListen";

/**
 * Thrown if a node cannot start or continue. The message is a sentence; the command line adds a fix depending on
 * `kind`.
 */
export class StartError extends Error {
  readonly kind: StartErrorKind;

  constructor(kind: StartErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "StartError";
    this.kind = kind;
  }
}
