/** Base class of all database errors. */
class DatabaseError extends Error {
  readonly path: string;

  constructor(path: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.path = path;
  }
}

export class DatabaseInUseError extends DatabaseError {
  /** The process that has the database open. */
  readonly user: "this process" | "another process";

  constructor(path: string, user: DatabaseInUseError["user"], cause?: unknown) {
    super(path, `The database at ${path} is in use by ${user}. It can be opened only once at a time.`, cause);
    this.user = user;
  }
}

export class DatabaseCorruptError extends DatabaseError {
  /** The problem as a full sentence, for lists of findings. */
  readonly problem: string;

  constructor(path: string, cause?: unknown) {
    const reason = reasonOf(cause);
    super(path, `The database at ${path} is damaged: ${reason}.`, cause);
    this.problem = `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
  }
}

/** Access to the file system was refused: permissions are missing, or the path is not a directory. */
export class DatabaseOpenError extends DatabaseError {
  constructor(path: string, cause?: unknown) {
    super(path, `The database at ${path} cannot be opened: ${reasonOf(cause)}.`, cause);
  }
}

/** A write failed. All later writes are rejected, because LevelDB could lose them even though it reported success. */
export class DatabaseWriteError extends DatabaseError {
  constructor(path: string, cause?: unknown) {
    super(path, `The database at ${path} could not be written: ${reasonOf(cause)}.`, cause);
  }
}

export class DatabaseSchemaError extends DatabaseError {
  readonly found: number | null;
  readonly supported: number;

  constructor(path: string, found: number | null, supported: number) {
    super(path, schemaMessage(path, found, supported));
    this.found = found;
    this.supported = supported;
  }
}

function schemaMessage(path: string, found: number | null, supported: number): string {
  if (found === null) return `The directory ${path} contains a database that was not created by Fanal.`;
  const advice = found > supported ? "use the newer version that wrote it" : "start with an empty directory";
  return `The database at ${path} has schema version ${found}, this version supports ${supported}: ${advice}.`;
}

function reasonOf(cause: unknown): string {
  return (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, "");
}
