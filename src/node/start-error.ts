/** What can keep a node from starting, or from going on, that whoever starts it can mend. */
export type StartErrorKind =
  | "dataDirInUse"
  | "dataDirDamaged"
  | "dataDirUnusable"
  /** The system does not let this user at the data directory, or not write to it. */
  | "dataDirForbidden"
  /** A write to the database failed, so that nothing more can be kept. */
  | "dataDirFailed"
  /** The schema of the database is that of another version of the program. */
  | "dataDirSchema"
  /** The data directory holds the chain of another network, or of a network where a dev chain was asked for. */
  | "otherChain"
  /** The chain of the data directory came to forks at other epochs than its network has now. */
  | "otherSchedule"
  /** The data directory holds a dev chain that was made with other parameters. */
  | "otherDevChain"
  /** More slots have passed than a dev chain may leave empty. */
  | "tooFarBehind"
  /** The history that a new dev chain is to have would not be over yet. */
  | "genesisTooLate"
  /** The execution client that a new dev chain is to begin with cannot be asked. */
  | "noExecutionClient"
  /** The execution client that a new dev chain is to begin with is not on the chain of the deposit contract. */
  | "otherDepositChain"
  /** The execution client has another chain than the one that the stored dev chain was made with. */
  | "otherExecutionChain"
  /** The execution client's chain begins after the history that a new dev chain is to have. */
  | "executionGenesisTooLate"
  /** The execution client that a new dev chain is to begin with has gone on from its genesis block with another chain. */
  | "executionClientHasBlocks"
  /** A new node was given no state to start from. */
  | "noState"
  | "notGenesisState"
  /** A state, a block or a file of a network cannot be read, or is not what it should be. */
  | "unreadableInput"
  /** The KZG backend that was chosen does not load on this platform. */
  | "noKzgBackend"
  | "rpcPortInUse"
  | "restPortInUse"
  | "metricsPortInUse"
  | "p2pPortInUse"
  | "p2pAddressUnusable"
  | "cannotListen";

/** A node cannot start, or cannot go on. The message is a whole sentence; what to do about it is for whoever knows how it was started. */
export class StartError extends Error {
  readonly kind: StartErrorKind;

  constructor(kind: StartErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "StartError";
    this.kind = kind;
  }
}
