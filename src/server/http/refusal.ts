import { Failure, type FailureKind, type ItemFailure } from "../../errors/failure.ts";

/** A refusal that only HTTP knows, such as 406 or 415. */
export class HttpRefusal extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.name = "HttpRefusal";
    this.status = status;
    this.headers = headers;
  }
}

export const TOO_MUCH_UNREAD =
  "The node holds as many answers that are not read yet as it can; ask for less, or again later.";

/** What a caller learns of something that was thrown. */
interface ThrownReport {
  status: number;
  message: string;
  detail?: string;
  failures?: ItemFailure[];
  headers?: Record<string, string>;
}

const STATUSES: Record<FailureKind, number> = {
  "invalid-params": 400,
  server: 500,
  "not-found": 404,
  unavailable: 503,
  rejected: 400,
  unsupported: 501,
  "limit-exceeded": 413,
  overloaded: 503,
};

/** Whatever is no refusal is a defect of the node, of which the caller learns nothing but that it happened. */
export function reportThrown(thrown: unknown): ThrownReport {
  if (thrown instanceof HttpRefusal) return thrown;
  if (!(thrown instanceof Failure)) return { status: 500, message: "Internal error" };
  const { kind, message, detail, failures } = thrown;
  return { status: STATUSES[kind], message, detail, failures };
}

/** The error body of the standard REST API. */
export function errorBody(code: number, message: string, failures?: ItemFailure[]): Buffer {
  // Without failures the member does not appear in the encoded object.
  return Buffer.from(JSON.stringify({ code, message, failures }));
}
