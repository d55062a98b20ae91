// One run, step by step.
import { get, said } from "../common/api";
import type { Chart } from "../common/charts";
import { type Child, fill, h, tell } from "../common/dom";
import { type MapDrawing, mapPicture } from "../common/map";
import { stepParts } from "../common/step";
import { Calls } from "./calls";
import { curveCharts } from "./curves";
import type { Call, HeldTold, RunTold } from "./data";
import { figureCard } from "./figures";
import { HeldMemory } from "./held";
import { latestOnly } from "./latest";
import { Stepper } from "./stepper";
import { Steps } from "./steps";
import { shownModel, shownPlayer } from "../common/words";

export class RunView {
  readonly element = h("section", { class: "run" });
  /** The step that is wanted; it is shown as soon as it is loaded. */
  step = 0;
  private readonly steps: Steps;
  private readonly stepper: Stepper;
  private readonly charts: Chart[];
  private readonly card = h("article", { class: "card step", "aria-live": "polite" });
  private readonly map = h("div");
  private readonly calls = new Calls();
  private readonly held = new HeldMemory((opened) => {
    if (opened) this.showHeld(this.step);
  });

  /** @param go called with the step that a person wants to see */
  constructor(
    private readonly told: RunTold,
    go: (step: number) => void,
  ) {
    this.steps = new Steps(told.id);
    this.stepper = new Stepper(told.curves.turn, go);
    this.charts = curveCharts(told, go);
    fill(
      this.element,
      h("h2", {}, told.header.game || told.name),
      h("p", { class: "muted" }, this.about()),
      ...(told.steps ? this.parts() : [figureCard(told), h("p", { class: "hint" }, "This run has no steps yet.")]),
    );
  }

  get last(): number {
    return Math.max(this.told.steps - 1, 0);
  }

  /** The moves made at the step that is wanted. */
  get turn(): number {
    return this.told.curves.turn[this.step] ?? 0;
  }

  /** The last step at which no more than this many moves were made. */
  stepAtTurn(turn: number): number {
    return Math.max(this.told.curves.turn.findLastIndex((made) => made <= turn), 0);
  }

  show(step: number): void {
    if (!this.told.steps) return;
    this.step = Math.min(Math.max(step, 0), this.last);
    this.stepper.show(this.step);
    for (const chart of this.charts) chart.mark(this.step);
    this.showStep(this.step);
    if (this.told.memory === null) return;
    this.showMap(this.turn);
    if (this.held.isOpen) this.showHeld(this.step);
  }

  private about(): string {
    const { header, name } = this.told;
    const { memory, model, attempt } = header.settings ?? {};
    return [
      shownPlayer(header.agent, memory),
      shownModel(model),
      header.seed === undefined ? "" : `seed ${header.seed}`,
      attempt ? `attempt ${attempt}` : "",
      name,
    ]
      .filter(Boolean)
      .join(" · ");
  }

  private parts(): Child[] {
    const { memory } = this.told;
    return [
      this.stepper.element,
      h(
        "div",
        { class: "two" },
        h(
          "div",
          {},
          this.card,
          this.calls.element,
          memory === null ? null : this.held.element,
          memory === null
            ? null
            : h(
                "section",
                {},
                h("h3", {}, "Map in its memory"),
                this.map,
                h("p", {}, h("a", { href: `/#memory=${encodeURIComponent(memory)}` }, "Open its memory")),
              ),
        ),
        h("div", { class: "charts" }, figureCard(this.told), ...this.charts.map((chart) => chart.element)),
      ),
    ];
  }

  private readonly showStep = latestOnly(async (number: number) => {
    try {
      const step = await this.steps.at(number);
      if (step === undefined || number !== this.step) return;
      const address = `#run=${encodeURIComponent(this.told.id)}&step=${number}`;
      fill(
        this.card,
        ...stepParts(step, this.told.summary.max_score ?? null),
        h("p", { class: "foot" }, h("a", { class: "step-link", href: address }, "Link to this step")),
      );
      this.calls.clear();
      this.element.dataset["step"] = String(number);
      tell(null);
      if (!step.model_calls) return;
      const path = `/api/runs/${encodeURIComponent(this.told.id)}/steps/${number}/calls`;
      const { calls } = await get<{ calls: Call[] }>(path);
      if (number === this.step) this.calls.show(calls);
    } catch (error) {
      tell(said(error));
    }
  });

  private readonly showHeld = latestOnly(async (number: number) => {
    const path = `/api/runs/${encodeURIComponent(this.told.id)}/steps/${number}/memory`;
    try {
      const told = await get<HeldTold>(path);
      if (number === this.step) this.held.show(told);
    } catch (error) {
      this.held.fail(said(error));
    }
  });

  private readonly showMap = latestOnly(async (turn: number) => {
    const { memory } = this.told;
    if (memory === null) return;
    try {
      const drawing = await get<MapDrawing>(`/api/memories/${encodeURIComponent(memory)}/map`, { at: turn });
      if (turn !== this.turn) return;
      fill(this.map, drawing.rooms.length ? mapPicture(drawing) : h("p", { class: "muted" }, "No map yet."));
    } catch (error) {
      fill(this.map, h("p", { class: "muted" }, said(error)));
    }
  });
}
