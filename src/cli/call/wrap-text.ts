/** Lines of at most `width` characters, broken at blanks, unless a word alone is longer. */
export function wrapText(text: string, width: number, indent = "", hanging = indent): string[] {
  const [first = "", ...rest] = text.split(" ");
  const lines = [indent + first];
  for (const word of rest) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length <= width) lines[lines.length - 1] = line;
    else lines.push(hanging + word);
  }
  return lines;
}
