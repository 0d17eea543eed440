import type { ByteWriter } from "./byte-writer.ts";

/** What a writer of a stream has room for when it begins and whenever it is resumed. */
export const ROOM_BYTES = 4096;

/**
 * Writes what its input stands for, and yields when there might be too little room for what comes next, and now and then
 * while it writes little: whoever runs it then takes what is written, or lets others have a turn.
 */
export type StreamWriter<Input> = (input: Input, out: ByteWriter) => Generator<void, void, void>;
