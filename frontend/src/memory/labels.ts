// The labels of the graph, painted so that none lies over another: what matters more comes first.

export interface Label {
  lines: string[];
  /** A last line, which matters less; with it, the label is centred. */
  under?: string;
  x: number;
  y: number;
  /** The radius of what it belongs to; 0 for a line. */
  size: number;
  /** Painted whether there is room or not. */
  forced: boolean;
  faded: boolean;
  font: string;
}

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const HEIGHT = 14;
const GAP = 2;
const CELL = 64; // pixels of the grid in which neighbours are looked for

export class LabelPainter {
  private readonly cells = new Map<string, Box[]>();
  /** How many were painted. */
  painted = 0;
  /** How many of these lie over others, because they had to be painted. */
  overprinted = 0;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly width: number,
    private readonly height: number,
  ) {}

  /** Keeps a disc free of labels. */
  block(x: number, y: number, size: number): void {
    this.take({ left: x - size, right: x + size, top: y - size, bottom: y + size });
  }

  /** Keeps a box free of labels. */
  keepFree(box: Box): void {
    this.take(box);
  }

  paint(label: Label, ink: string, halo: string): void {
    const { context } = this;
    context.font = label.font;
    const lines = label.under === undefined ? label.lines : [...label.lines, label.under];
    const widths = lines.map((line) => context.measureText(line).width);
    const width = Math.max(...widths);
    const places = this.places(label, width, lines.length * HEIGHT);
    const place = places.find((box) => this.isInside(box) && !this.isTaken(box));
    const box = place ?? (label.forced ? places[0] : undefined);
    if (box === undefined) return;
    this.take(box);
    this.painted += 1;
    if (place === undefined) this.overprinted += 1;
    context.globalAlpha = label.faded ? 0.75 : 1;
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeStyle = halo;
    context.fillStyle = ink;
    lines.forEach((line, number) => {
      if (number >= label.lines.length) context.globalAlpha = 0.8;
      const left = box.left + (label.under === undefined ? 0 : (width - (widths[number] ?? 0)) / 2);
      context.strokeText(line, left, box.top + (number + 1) * HEIGHT - 3);
      context.fillText(line, left, box.top + (number + 1) * HEIGHT - 3);
    });
    context.globalAlpha = 1;
  }

  /** Where a label may lie: right of its place, left, below, above; for a line, on it. */
  private places({ x, y, size, under }: Label, width: number, height: number): Box[] {
    const box = (left: number, top: number): Box => ({ left, top, right: left + width, bottom: top + height });
    if (size === 0) return [box(x - width / 2, y - HEIGHT / 2), box(x - width / 2, y - HEIGHT * 1.6)];
    const aside = size + 4;
    const beside = [box(x + aside, y - height / 2), box(x - aside - width, y - height / 2)];
    const below = [box(x - width / 2, y + size + 2), box(x - width / 2, y - size - height - 2)];
    return under === undefined ? [...beside, ...below] : [...below, ...beside];
  }

  private isInside({ left, top, right, bottom }: Box): boolean {
    return left >= 0 && top >= 0 && right <= this.width && bottom <= this.height;
  }

  private isTaken(box: Box): boolean {
    return this.around(box).some((cell) =>
      this.cells
        .get(cell)
        ?.some(
          (other) =>
            box.left < other.right + GAP &&
            other.left < box.right + GAP &&
            box.top < other.bottom + GAP &&
            other.top < box.bottom + GAP,
        ),
    );
  }

  private take(box: Box): void {
    for (const cell of this.around(box)) {
      const found = this.cells.get(cell);
      if (found === undefined) this.cells.set(cell, [box]);
      else found.push(box);
    }
  }

  private around(box: Box): string[] {
    const cells: string[] = [];
    for (let x = Math.floor((box.left - GAP) / CELL); x <= Math.floor((box.right + GAP) / CELL); x++) {
      for (let y = Math.floor((box.top - GAP) / CELL); y <= Math.floor((box.bottom + GAP) / CELL); y++) {
        cells.push(`${x},${y}`);
      }
    }
    return cells;
  }
}
