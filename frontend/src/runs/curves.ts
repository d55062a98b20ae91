// How the score, the memory and the use of the model grew over a run.
import { type Chart, chart } from "../common/charts";
import type { RunTold } from "./data";

/** The charts of a run. The colours are names of the style sheet, so they follow between dark and light. */
export function curveCharts({ curves, summary }: RunTold, onPick: (step: number) => void): Chart[] {
  const x = curves.turn;
  const charts = [
    chart({
      title: "score over the moves",
      x,
      lines: [{ name: "score", colour: "var(--accent)", values: curves.score }],
      most: summary.max_score ?? null,
      onPick,
    }),
    chart({
      title: "size of the memory over the moves",
      x,
      lines: [
        { name: "facts that hold", colour: "var(--entity)", values: curves.facts },
        { name: "names and sentences", colour: "var(--thesis)", values: curves.vertices },
      ],
      onPick,
    }),
    chart({
      title: "what was learned and what ended at each step",
      x,
      bars: { up: curves.learned, down: curves.ended, upName: "learned", downName: "ended" },
      onPick,
    }),
  ];
  if (curves.tokens.some((tokens) => tokens > 0)) {
    charts.push(
      chart({
        title: "tokens of the model at each step",
        x,
        lines: [{ name: "tokens", colour: "var(--episode)", values: curves.tokens }],
        onPick,
      }),
    );
  }
  return charts;
}
