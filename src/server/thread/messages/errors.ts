import { Failure, TimeLimitFailure } from "../../../errors/failure.ts";
import { JsonLimitError, JsonParseError } from "../../../json/parse.ts";
import { ErrorRegistry } from "../../../threads/error-registry.ts";
import { HttpError } from "../../http/http-error.ts";

/** Errors that keep their class when passed between the server thread and the main thread. */
export const SERVER_ERRORS = new ErrorRegistry([Failure, TimeLimitFailure, HttpError, JsonParseError, JsonLimitError]);
