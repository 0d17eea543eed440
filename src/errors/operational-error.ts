/** An expected error whose message is complete: it is logged without a stack trace. */
export class OperationalError extends Error {}
