// Small plots, drawn by hand: every text in them is a text node.
import { s } from "./dom";

export interface Line {
  name: string;
  colour: string;
  values: number[];
  dashed?: boolean;
}

const LINE_COLOURS = 8;

interface Frame {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** On a small screen the plot is narrow, so that its letters stay legible. */
const frame = (): Frame => ({
  width: matchMedia("(max-width: 760px)").matches ? 380 : 640,
  height: 170,
  left: 40,
  right: 12,
  top: 24,
  bottom: 22,
});

/** Steps of a "nice" size, some five of them up to `most`. */
export function ticks(least: number, most: number, wanted = 4, smallest = 0): number[] {
  const span = most - least || 1;
  const rough = span / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const size =
    [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= Math.max(rough, smallest)) ??
    Math.max(rough, smallest);
  const found: number[] = [];
  for (let value = Math.ceil(least / size) * size; value <= most + size * 1e-9; value += size)
    found.push(Number(value.toPrecision(12)));
  return found;
}

export interface Chart {
  element: SVGSVGElement;
  /** Moves the cursor to a step. */
  mark(step: number): void;
}

export interface ChartParts {
  title: string;
  /** What stands on the horizontal axis at each step. */
  x: number[];
  lines?: Line[];
  /** Bars above and below zero at each step. */
  bars?: { up: number[]; down: number[]; upName: string; downName: string };
  unit?: string;
  most?: number | null;
  onPick?: (step: number) => void;
}

/** Lines, or bars, over the steps of a run. */
export function chart(parts: ChartParts): Chart {
  const { lines = [], bars } = parts;
  const f = frame();
  const steps = parts.x.length;
  const firstX = parts.x[0] ?? 0;
  const lastX = Math.max(...parts.x, firstX + 1);
  const values = bars ? [...bars.up, ...bars.down.map((value) => -value)] : lines.flatMap((line) => line.values);
  const most = Math.max(parts.most ?? 0, ...values, 1);
  const least = Math.min(0, ...values);
  const px = (step: number): number =>
    f.left + ((f.width - f.left - f.right) * ((parts.x[step] ?? 0) - firstX)) / (lastX - firstX);
  const py = (value: number): number => f.top + ((f.height - f.top - f.bottom) * (most - value)) / (most - least);
  const svg = s("svg", {
    class: "chart",
    viewBox: `0 0 ${f.width} ${f.height}`,
    role: "img",
    "aria-label": parts.title,
  });
  for (const value of ticks(least, most, 3)) {
    svg.append(
      s("line", { class: "grid", x1: f.left, x2: f.width - f.right, y1: py(value), y2: py(value) }),
      s("text", { class: "tick", x: f.left - 6, y: py(value) + 4, "text-anchor": "end" }, shortNumber(Math.abs(value))),
    );
  }
  for (const value of ticks(firstX, lastX, 6, 1)) {
    const x = f.left + ((f.width - f.left - f.right) * (value - firstX)) / (lastX - firstX);
    svg.append(s("text", { class: "tick", x, y: f.height - 6, "text-anchor": "middle" }, shortNumber(value)));
  }
  if (bars) {
    const width = Math.max(((f.width - f.left - f.right) / Math.max(steps, 1)) * 0.75, 1);
    bars.up.forEach((value, step) => {
      if (value)
        svg.append(s("rect", { class: "up", x: px(step) - width / 2, y: py(value), width, height: py(0) - py(value) }));
    });
    bars.down.forEach((value, step) => {
      if (value)
        svg.append(s("rect", { class: "down", x: px(step) - width / 2, y: py(0), width, height: py(-value) - py(0) }));
    });
  }
  for (const line of lines) {
    const points = line.values.map((value, step) => `${px(step).toFixed(1)},${py(value).toFixed(1)}`).join(" ");
    svg.append(s("polyline", { class: line.dashed ? "line dashed" : "line", points, stroke: line.colour }));
  }
  const legend = bars
    ? [
        [bars.upName, "up"],
        [bars.downName, "down"],
      ]
    : lines.map((line) => [line.name, line.colour]);
  let place = f.left;
  for (const [name = "", colour = ""] of legend) {
    const mark = bars
      ? s("rect", { class: colour, x: place, y: 6, width: 10, height: 10, rx: 2 })
      : s("rect", { fill: colour, x: place, y: 9, width: 14, height: 3 });
    svg.append(mark, s("text", { class: "legend", x: place + 19, y: 15 }, name));
    place += 34 + name.length * 7;
  }
  const cursor = s("line", { class: "cursor", y1: f.top, y2: f.height - f.bottom });
  svg.append(cursor);
  const mark = (step: number): void => {
    cursor.setAttribute("x1", String(px(step)));
    cursor.setAttribute("x2", String(px(step)));
  };
  mark(0);
  if (parts.onPick && steps > 0) {
    svg.classList.add("pick");
    svg.addEventListener("click", (event) => {
      const box = svg.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width) * f.width;
      let best = 0;
      for (let step = 0; step < steps; step++) if (Math.abs(px(step) - at) < Math.abs(px(best) - at)) best = step;
      parts.onPick?.(best);
    });
  }
  return { element: svg, mark };
}

export interface Range {
  name: string;
  mean: number;
  low: number;
  high: number;
}

/** Means with their intervals, a line each. */
export function ranges(title: string, rows: Range[], most: number): SVGSVGElement {
  const { width } = frame();
  const left = width * 0.33;
  const height = rows.length * 28 + 26;
  const px = (value: number): number => left + ((width - left - 70) * value) / most;
  const svg = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title });
  for (const value of ticks(0, most, 4)) {
    svg.append(
      s("line", { class: "grid", x1: px(value), x2: px(value), y1: 0, y2: height - 22 }),
      s("text", { class: "tick", x: px(value), y: height - 6, "text-anchor": "middle" }, shortNumber(value)),
    );
  }
  rows.forEach((row, number) => {
    const y = number * 28 + 16;
    svg.append(
      s("text", { class: "legend", x: left - 12, y: y + 4, "text-anchor": "end" }, row.name),
      s("line", { class: "range", x1: px(row.low), x2: px(row.high), y1: y, y2: y }),
      s("circle", { class: "mean", cx: px(row.mean), cy: y, r: 5 }),
      s("text", { class: "tick", x: width - 6, y: y + 4, "text-anchor": "end" }, row.mean.toFixed(most <= 1 ? 3 : 1)),
    );
  });
  return svg;
}

export interface Band {
  name: string;
  moves: number[];
  mean: number[];
  low: number[];
  high: number[];
}

/** Means over the moves with their intervals, a colour for each. */
export function bands(title: string, lines: Band[]): SVGSVGElement {
  const f = frame();
  const last = Math.max(1, ...lines.flatMap(({ moves }) => moves));
  const most = Math.max(1, ...lines.flatMap(({ high }) => high));
  const least = Math.min(0, ...lines.flatMap(({ low }) => low));
  const px = (moves: number): number => f.left + ((f.width - f.left - f.right) * moves) / last;
  const py = (value: number): number => f.top + ((f.height - f.top - f.bottom) * (most - value)) / (most - least);
  const svg = s("svg", { class: "chart", viewBox: `0 0 ${f.width} ${f.height}`, role: "img", "aria-label": title });
  for (const value of ticks(least, most, 3)) {
    svg.append(
      s("line", { class: "grid", x1: f.left, x2: f.width - f.right, y1: py(value), y2: py(value) }),
      s("text", { class: "tick", x: f.left - 6, y: py(value) + 4, "text-anchor": "end" }, shortNumber(value)),
    );
  }
  for (const value of ticks(0, last, 6, 1)) {
    svg.append(s("text", { class: "tick", x: px(value), y: f.height - 6, "text-anchor": "middle" }, shortNumber(value)));
  }
  let place = f.left;
  lines.forEach(({ name, moves, mean, low, high }, number) => {
    const colour = `var(--relation-${(number % LINE_COLOURS) + 1})`;
    const points = (values: number[]): string[] =>
      moves.map((at, step) => `${px(at).toFixed(1)},${py(values[step] ?? 0).toFixed(1)}`);
    svg.append(
      s("polygon", { class: "band", points: [...points(high), ...points(low).reverse()].join(" "), fill: colour }),
      s("polyline", { class: "line", points: points(mean).join(" "), stroke: colour }),
      s("rect", { fill: colour, x: place, y: 9, width: 14, height: 3 }),
      s("text", { class: "legend", x: place + 19, y: 15 }, name),
    );
    place += 34 + name.length * 7;
  });
  return svg;
}

export function shortNumber(value: number): string {
  if (Math.abs(value) >= 1e6) return `${(value / 1e6).toFixed(1)}M`;
  if (Math.abs(value) >= 1e4) return `${Math.round(value / 1e3)}k`;
  return value.toLocaleString("en", { maximumFractionDigits: 2 });
}
