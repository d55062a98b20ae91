// The figures of a whole run.
import { h } from "../common/dom";
import type { RunTold } from "./data";
import { shownEnd } from "../common/words";

export function figureCard({ summary, steps }: RunTold): HTMLElement {
  const figures: [string, string | number][] = [];
  const add = (name: string, value: string | number | null | undefined): void => {
    if (value !== null && value !== undefined) figures.push([name, value]);
  };
  if (summary.moves === undefined) {
    add("result", "not finished");
    add("steps", steps);
  } else {
    const best = summary.max_score ? ` of ${summary.max_score}` : "";
    add("result", shownEnd(summary.won, summary.ended_by));
    add("score", `${summary.score ?? 0}${best}`);
    if (summary.returns) {
      add("best score", `${summary.best_score ?? 0}${best}`);
      add("returns", summary.returns);
    }
    add("moves", summary.moves);
    add("decisions", summary.decisions);
    add("shortest solution", summary.optimal_moves);
    add("memory precision", summary.audit?.precision.toFixed(3));
    add("memory recall", summary.audit?.recall.toFixed(3));
    if (summary.model_calls) {
      const tokens = (summary.prompt_tokens ?? 0) + (summary.completion_tokens ?? 0);
      add("model calls", summary.model_calls.toLocaleString("en"));
      add("tokens", tokens.toLocaleString("en"));
      add("cost", summary.cost_usd == null ? "price unknown" : `$${summary.cost_usd.toFixed(4)}`);
    }
    add("unparsable answers", summary.unparsable || null);
    add("seconds", summary.seconds?.toFixed(1));
  }
  return h("dl", { class: "card figures" }, ...figures.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}
