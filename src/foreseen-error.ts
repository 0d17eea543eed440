/** An error whose message says all that there is to say, since whoever threw it knew what happened: the log shows no stack of it. */
export class ForeseenError extends Error {}
