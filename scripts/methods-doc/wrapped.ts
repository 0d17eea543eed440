const MAX_WIDTH = 120;
/** Words that would begin a list, a heading, a quotation or a table at the start of a line. */
const IS_MARKUP = /^([-+*>|]|#+|\d+[.)])/;

/** Breaks a paragraph or an item of a list into lines of the width of the documents. */
export function wrapped(text: string): string {
  const indent = text.startsWith("- ") ? "  " : "";
  const [first, ...words] = text.split(" ");
  const lines = [first!];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (longer.length <= MAX_WIDTH || IS_MARKUP.test(word)) lines[lines.length - 1] = longer;
    else lines.push(indent + word);
  }
  return lines.join("\n");
}
