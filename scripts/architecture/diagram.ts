import { BOUNDARIES, COMMON } from "../lint/boundaries.ts";

const WIDTH = 960;
const BOX_HEIGHT = 30;
const ROW_HEIGHT = 78;
const MARGIN = 20;

interface Box {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/**
 * Draws the folders of src/ as SVG, in rows: a folder is above everything that it imports. Lines that follow from
 * others, imports of types and the common folders are left out.
 */
export function architectureDiagram(): string {
  const imports = folderImports();
  const rows = rowsOf(imports);
  const boxes = new Map(rows.flatMap((names, row) => place(names, row)).map((box) => [box.name, box]));
  const lines = [...imports].flatMap(([from, targets]) =>
    [...targets]
      .filter((to) => ![...targets].some((other) => other !== to && reaches(imports, other, to)))
      .map((to) => line(boxes.get(from)!, boxes.get(to)!)),
  );
  const height = rows.length * ROW_HEIGHT + MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    "<title>Folders of src/ and their imports</title>",
    "<style>",
    "rect { fill: #eef3fb; stroke: #4a6da7; rx: 5px }",
    "text { font: 14px sans-serif; text-anchor: middle; fill: #1b1f24 }",
    "path { stroke: #8b98a9; fill: none }",
    "@media (prefers-color-scheme: dark) {",
    "  rect { fill: #1d2733; stroke: #6f9ad8 } text { fill: #e6edf3 } path { stroke: #5b6775 }",
    "}",
    "</style>",
    ...lines,
    ...[...boxes.values()].map(boxElement),
    "</svg>",
    "",
  ].join("\n");
}

/** Returns the folders that each folder imports at run time. */
function folderImports(): Map<string, Set<string>> {
  const imports = new Map<string, Set<string>>();
  for (const [part, allowed] of Object.entries(BOUNDARIES)) {
    const folder = part.split("/")[0]!;
    if (COMMON.includes(folder)) continue;
    const targets = imports.get(folder) ?? new Set<string>();
    for (const place of allowed) {
      const target = place.split(/[ /]/)[0]!;
      if (!place.endsWith("(types)") && target !== folder) targets.add(target);
    }
    imports.set(folder, targets);
  }
  return imports;
}

/** Returns the folders by their longest way down, the top ones first. */
function rowsOf(imports: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const depth = (name: string): number => Math.max(0, ...[...imports.get(name)!].map((target) => depth(target) + 1));
  const depths = new Map([...imports.keys()].map((name) => [name, depth(name)]));
  const deepest = Math.max(...depths.values());
  return Array.from({ length: deepest + 1 }, (_, row) =>
    [...imports.keys()].filter((name) => depths.get(name) === deepest - row),
  );
}

function reaches(imports: ReadonlyMap<string, ReadonlySet<string>>, from: string, to: string): boolean {
  return [...imports.get(from)!].some((next) => next === to || reaches(imports, next, to));
}

function place(names: readonly string[], row: number): Box[] {
  const widths = names.map((name) => name.length * 8 + 28);
  const gap = (WIDTH - widths.reduce((sum, width) => sum + width, 0)) / (names.length + 1);
  let x = 0;
  return names.map((name, index) => {
    x += gap;
    const box = { name, x: Math.round(x), y: MARGIN + row * ROW_HEIGHT, width: widths[index]! };
    x += widths[index]!;
    return box;
  });
}

function line(from: Box, to: Box): string {
  const [x1, y1] = [from.x + from.width / 2, from.y + BOX_HEIGHT];
  const [x2, y2] = [to.x + to.width / 2, to.y];
  const bend = (y2 - y1) / 2;
  return `<path d="M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}"/>`;
}

function boxElement({ name, x, y, width }: Box): string {
  const text = `<text x="${x + width / 2}" y="${y + 20}">${name}</text>`;
  return `<rect x="${x}" y="${y}" width="${width}" height="${BOX_HEIGHT}"/>${text}`;
}
