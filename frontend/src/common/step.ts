// A step of a play, as its trajectory has it, in words.
import { type Child, count, h } from "./dom";
import { shownReason, shownStatement } from "./words";

export interface Step {
  turn: number;
  label: string;
  action: string | null;
  problem?: string;
  reason: string | null;
  stuck?: boolean | null;
  valid?: boolean | null;
  observation: string;
  inventory: string | null;
  score: number;
  reward: number;
  over?: boolean;
  valid_actions: string[] | null;
  recalled?: { text: string; path: string[] }[];
  learned: string[];
  ended: [string, string][];
  facts: number;
  vertices: number;
  moment?: number;
  before?: number | null;
  return_to?: number | null;
  model_calls?: number;
  prompt_tokens?: number;
  completion_tokens?: number;
}

/** What was done, why, what followed, and what it taught. */
export function stepParts(step: Step, maxScore: number | null): Child[] {
  const tokens = (step.prompt_tokens ?? 0) + (step.completion_tokens ?? 0);
  const best = maxScore === null ? "" : ` of ${maxScore}`;
  return [
    h("h3", { class: "action" }, step.action === null && step.return_to == null ? "The game begins" : step.label),
    step.problem ? h("p", { class: "error" }, `Nothing was done: ${step.problem}`) : null,
    step.reason ? h("p", { class: step.stuck ? "reason stuck" : "reason" }, step.reason) : null,
    h("p", { class: "told", dir: "auto" }, step.observation),
    h(
      "p",
      { class: "badges" },
      h(
        "span",
        { class: step.reward > 0 ? "badge good" : "badge" },
        `score ${step.score}${best}${step.reward ? ` (${step.reward > 0 ? "+" : ""}${step.reward})` : ""}`,
      ),
      h("span", { class: "badge" }, count(step.facts, "fact")),
      step.valid === false ? h("span", { class: "badge bad" }, "not a valid action") : null,
      step.over ? h("span", { class: "badge" }, "the game is over") : null,
      step.model_calls
        ? h("span", { class: "badge" }, `${count(step.model_calls, "model call")}, ${count(tokens, "token")}`)
        : null,
    ),
    changes(
      "Learned",
      "learned",
      step.learned.map((text) => [text, ""]),
    ),
    changes("Ended", "ended", step.ended),
    step.recalled?.length
      ? h(
          "details",
          { class: "recalled" },
          h("summary", {}, `Recalled (${step.recalled.length})`),
          h(
            "ul",
            {},
            ...step.recalled.map(({ text, path }) =>
              h(
                "li",
                {},
                h("p", { class: "told", dir: "auto" }, shownStatement(text)),
                path.length ? h("p", { class: "muted" }, `path: ${path.join(" › ")}`) : null,
              ),
            ),
          ),
        )
      : null,
    step.inventory ? h("details", {}, h("summary", {}, "Inventory"), h("p", { class: "told" }, step.inventory)) : null,
    step.valid_actions?.length
      ? h(
          "details",
          {},
          h("summary", {}, `Valid actions (${step.valid_actions.length})`),
          h("ul", { class: "chips" }, ...step.valid_actions.map((action) => h("li", { class: "badge" }, action))),
        )
      : null,
  ];
}

/** Statements that began or ended, with the reasons. */
export function changes(title: string, kind: "learned" | "ended", statements: [string, string][]): HTMLElement | null {
  if (!statements.length) return null;
  return h(
    "section",
    { class: `changes ${kind}` },
    h("h4", {}, `${title} (${statements.length})`),
    h(
      "ul",
      {},
      ...statements.map(([text, why]) =>
        h("li", {}, h("span", {}, shownStatement(text)), why ? h("span", { class: "muted" }, ` (${shownReason(why)})`) : null),
      ),
    ),
  );
}
