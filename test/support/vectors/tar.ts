const BLOCK = 512;
const FILE = "0";
const LONG_NAME = "L";
const EXTENDED_HEADER = "x";

/** Returns the files of a tar archive by path: POSIX headers, with the long names of GNU tar and of pax. */
export function readTar(archive: Uint8Array): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  let longName: string | undefined;
  for (let offset = 0; offset + BLOCK <= archive.length; ) {
    const header = archive.subarray(offset, offset + BLOCK);
    if (header[0] === 0) break;
    const size = Number.parseInt(text(header.subarray(124, 136)), 8);
    const content = archive.subarray(offset + BLOCK, offset + BLOCK + size);
    const type = text(header.subarray(156, 157)) || FILE;
    offset += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    if (type === LONG_NAME) {
      longName = text(content);
    } else if (type === EXTENDED_HEADER) {
      longName = /^\d+ path=(.*)$/m.exec(text(content))?.[1] ?? longName;
    } else {
      if (type === FILE) files.set(longName ?? pathOf(header), content);
      longName = undefined;
    }
  }
  return files;
}

function pathOf(header: Uint8Array): string {
  const isPosix = text(header.subarray(257, 263)) === "ustar";
  const prefix = isPosix ? text(header.subarray(345, 500)) : "";
  const name = text(header.subarray(0, 100));
  return prefix === "" ? name : `${prefix}/${name}`;
}

/** Text up to the first zero byte. */
function text(field: Uint8Array): string {
  const end = field.indexOf(0);
  return Buffer.from(end === -1 ? field : field.subarray(0, end)).toString();
}
