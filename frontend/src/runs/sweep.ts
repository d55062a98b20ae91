// The report of a sweep: its figures with their intervals, and its runs.
import { bands, ranges, shortNumber } from "../common/charts";
import { type Child, count, fill, h } from "../common/dom";
import type { Group, ListedRun, Spread, SweepTold } from "./data";
import { RunTable, type TableView, USUAL } from "./table";
import { shownModel, shownPlayer } from "../common/words";

export function drawSweep(place: HTMLElement, { name, groups, has_intervals, install, runs, people }: SweepTold): void {
  fill(
    place,
    h("p", { class: "back" }, h("a", { href: "#" }, "← All runs")),
    h("h1", {}, name),
    has_intervals
      ? null
      : h("p", { class: "hint" }, `The figures need one more package: ${install}`),
    ...(groups.length ? [scoreCards(groups), ...figureTable(groups)] : []),
    h("h2", { class: "small" }, "Its runs"),
    people
      ? h("p", { class: "muted" }, `${count(people, "play")} by people of the same games, kept in the same folder, ${people === 1 ? "counts" : "count"} as the player “a person”.`)
      : null,
    runs.length ? sortable(runs) : h("p", { class: "muted" }, "No run of it lies in this folder."),
  );
}

function sortable(runs: ListedRun[]): HTMLElement {
  let view: TableView = { ...USUAL, sort: "game" };
  const table = new RunTable(view, {
    changed: (next) => {
      view = next;
      table.draw(runs, Number.POSITIVE_INFINITY, view);
    },
  });
  table.draw(runs, Number.POSITIVE_INFINITY);
  return table.element;
}

/** A chart for each game: the scores of its players, at the end and over the moves. */
function scoreCards(groups: Group[]): HTMLElement {
  const games = [...new Set(groups.map((group) => group.game))];
  return h("div", { class: "plots" }, ...games.map((game) => scoreCard(game, groups.filter((one) => one.game === game))));
}

function scoreCard(game: string, groups: Group[]): HTMLElement {
  const isShare = groups.every((group) => shareOf(group) !== null);
  const rows = groups.flatMap((group) => {
    const spread = isShare ? shareOf(group) : scoreOf(group);
    if (spread === null) return [];
    const [low, high] = spread.interval;
    return [{ name: shownPlayer(group.agent, group.memory), mean: spread.mean, low, high }];
  });
  const title = `${isShare ? "share of the highest score" : "score"}, mean with its 95 % interval`;
  const most = isShare ? 1 : Math.max(1, ...rows.map((one) => one.high));
  return h(
    "section",
    { class: "card" },
    h("h2", { class: "small" }, game),
    h("p", { class: "muted path" }, title),
    rows.length ? ranges(`${game}: ${title}`, rows, most) : h("p", { class: "muted" }, "no scores"),
    ...curves(game, groups),
  );
}

function curves(game: string, groups: Group[]): Child[] {
  const lines = groups.flatMap(({ agent, memory, curve }) =>
    curve === null ? [] : [{ name: shownPlayer(agent, memory), ...curve }],
  );
  const title = "points over the moves, mean with its 95 % interval";
  return lines.length ? [h("p", { class: "muted path" }, title), bands(`${game}: ${title}`, lines)] : [];
}

// a run that goes back to earlier moments counts with the best score that it reached
const shareOf = (group: Group): Spread | null => (group.returns ? group.best_normalized : group.normalized);
const scoreOf = (group: Group): Spread | null => (group.returns ? group.best_score : group.score);

interface Column {
  name: string;
  text: (group: Group) => string;
  /** Left out when no group has a value. */
  isOptional?: boolean;
}

const COLUMNS: Column[] = [
  { name: "won", text: (group) => `${group.wins}/${group.runs}` },
  { name: "score", text: (group) => withInterval(shareOf(group), 3) || withInterval(scoreOf(group), 1) },
  { name: "moves", text: (group) => shortNumber(group.median_moves) },
  { name: "decisions", text: (group) => shortNumber(group.median_decisions) },
  { name: "ratio", text: (group) => group.median_ratio?.toFixed(2) ?? "", isOptional: true },
  { name: "precision", text: (group) => group.audit?.precision.toFixed(4) ?? "", isOptional: true },
  { name: "recall", text: (group) => group.audit?.recall.toFixed(4) ?? "", isOptional: true },
  { name: "stale", text: (group) => group.audit?.stale_steps.toLocaleString("en") ?? "", isOptional: true },
  { name: "tokens", text: (group) => (group.model_calls && group.tokens ? shortNumber(group.tokens.mean) : ""), isOptional: true },
  { name: "dollars", text: (group) => (group.model_calls && group.dollars ? group.dollars.mean.toFixed(4) : ""), isOptional: true },
  { name: "seconds", text: (group) => group.seconds?.mean.toFixed(2) ?? "", isOptional: true },
];

function figureTable(groups: Group[]): Child[] {
  const columns = COLUMNS.filter((column) => !column.isOptional || groups.some((group) => column.text(group) !== ""));
  return [
    h("h2", { class: "small" }, "Figures"),
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        { class: "list" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", {}, "game"),
            h("th", {}, "player"),
            ...columns.map((column) => h("th", { class: "number" }, column.name)),
          ),
        ),
        h(
          "tbody",
          {},
          ...groups.map((group) =>
            h(
              "tr",
              {},
              h("td", {}, group.game),
              h(
                "td",
                {},
                shownPlayer(group.agent, group.memory),
                group.model ? h("div", { class: "muted path" }, shownModel(group.model)) : null,
              ),
              ...columns.map((column) => h("td", { class: "number" }, column.text(group))),
            ),
          ),
        ),
      ),
    ),
    h(
      "p",
      { class: "muted path" },
      "Score: mean with its 95 % interval. Moves, decisions and ratio to the shortest possible: medians. Tokens, dollars and seconds: means.",
    ),
  ];
}

/** A mean, and its interval when the runs differ. */
function withInterval(spread: Spread | null, digits: number): string {
  if (spread === null) return "";
  const [low, high] = spread.interval;
  const mean = spread.mean.toFixed(digits);
  return low === high ? mean : `${mean} [${low.toFixed(2)}, ${high.toFixed(2)}]`;
}
