/** The result of a handler that has nothing to return: null, or the status 204 without a body in REST. */
export const NO_CONTENT = { status: 204 } as const;

export type NoContent = typeof NO_CONTENT;
